import random


class BeetleHunt:
    """A place among fifteen is found by halving; four tries are enough."""

    def __init__(self, max_turns=5):
        self.max_turns = max_turns

    def reset(self, seed=None):
        self.secret = random.Random(seed).randint(1, 15)
        self.used = 0
        return "A beetle hides under one of 15 stones, counted 1 to 15. Lift a stone by its count.", {}

    def step(self, action):
        self.used += 1
        text = str(action).strip()
        late = self.used >= self.max_turns
        if not (text.isdecimal() and len(text) < 4):
            return "Lift a stone, 1 to 15.", 0.0, False, late, {}
        if int(text) == self.secret:
            return "There it is.", 1.0, True, False, {}
        return ("Further along." if int(text) < self.secret else "Not so far."), 0.0, False, late, {}

    def solution(self):
        return [str(self.secret)]
