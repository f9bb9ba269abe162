import random


class EggTrays:
    """A product and a sum."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        trays = dice.randint(2, 5)
        each = dice.randint(2, 6)
        loose = dice.randint(1, 5)
        self.key = trays * each + loose
        return f"There are {trays} trays with {each} eggs in each, and {loose} loose eggs. What do all the eggs come to?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
