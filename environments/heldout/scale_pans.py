import random


class ScalePans:
    """Sum of two weights."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        a, b = dice.randint(2, 20), dice.randint(2, 20)
        self.key = a + b
        return f"Two pans hold {a} and {b} grams. Total?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
