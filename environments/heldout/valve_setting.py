import random


class ValveSetting:
    """A setting to be found by what the boiler does."""

    def __init__(self, max_turns=4):
        self.max_turns = max_turns

    def reset(self, seed=None):
        dice = random.Random(seed)
        self.spot = dice.randint(1, 10)
        self.used = 0
        return "A valve has settings 1 to 10. One makes the boiler hum. Try a setting.", {}

    def step(self, action):
        self.used += 1
        late = self.used >= self.max_turns
        guess = str(action).strip()
        if not guess.isdigit():
            return "A number, please.", 0.0, False, late, {}
        if int(guess) == self.spot:
            return "There it is.", 1.0, True, False, {}
        return ("Still cold." if int(guess) < self.spot else "Scalding."), 0.0, False, late, {}

    def solution(self):
        return [str(self.spot)]
