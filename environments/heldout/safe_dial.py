import random


class SafeDial:
    """A number from 1 to 15 is found by halving; four tries are enough."""

    def __init__(self, max_turns=5):
        self.max_turns = max_turns

    def reset(self, seed=None):
        self.secret = random.Random(seed).randint(1, 15)
        self.used = 0
        return "A safe opens at one number from 1 to 15. Say a number.", {}

    def step(self, action):
        self.used += 1
        text = str(action).strip()
        late = self.used >= self.max_turns
        if not (text.isdecimal() and len(text) < 4):
            return "Say a number from 1 to 15.", 0.0, False, late, {}
        if int(text) == self.secret:
            return "The safe is open.", 1.0, True, False, {}
        return ("Too low." if int(text) < self.secret else "Too high."), 0.0, False, late, {}

    def solution(self):
        return [str(self.secret)]
