import random


class Bill:
    """Sum of three prices."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        a, b, c = (dice.randint(2, 15) for _ in range(3))
        self.key = a + b + c
        return f"A bill lists {a}, {b}, {c}. Total?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
