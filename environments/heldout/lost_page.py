import random


class LostPage:
    """A hidden number up to 15, told later or earlier."""

    def __init__(self, max_turns=5):
        self.max_turns = max_turns

    def reset(self, seed=None):
        dice = random.Random(seed)
        self.spot = dice.randint(1, 15)
        self.used = 0
        return "A note lies between pages 1 and 15. Open a page.", {}

    def step(self, action):
        self.used += 1
        late = self.used >= self.max_turns
        guess = str(action).strip()
        if not guess.isdigit():
            return "A number, please.", 0.0, False, late, {}
        if int(guess) == self.spot:
            return "There it is.", 1.0, True, False, {}
        return ("Later." if int(guess) < self.spot else "Earlier."), 0.0, False, late, {}

    def solution(self):
        return [str(self.spot)]
