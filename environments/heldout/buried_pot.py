import random


class BuriedPot:
    """A hidden place, told further or back."""

    def __init__(self, max_turns=4):
        self.max_turns = max_turns

    def reset(self, seed=None):
        dice = random.Random(seed)
        self.spot = dice.randint(1, 10)
        self.used = 0
        return "A pot is buried at one of the places 1 to 10. Dig at a place.", {}

    def step(self, action):
        self.used += 1
        late = self.used >= self.max_turns
        guess = str(action).strip()
        if not guess.isdigit():
            return "A number, please.", 0.0, False, late, {}
        if int(guess) == self.spot:
            return "There it is.", 1.0, True, False, {}
        return ("Go on." if int(guess) < self.spot else "Go back."), 0.0, False, late, {}

    def solution(self):
        return [str(self.spot)]
