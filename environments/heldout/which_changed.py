import random


class WhichChanged:
    """What was different on the bad day."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        a, b, c = dice.sample(["salt", "milk", "eggs", "oil"], 3)
        self.key = c
        return f"Good cake: {a}, {b}. Bad cake: {a}, {b}, {c}. What spoiled it?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
