import random


class Savings:
    """Two gains, one loss."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        a, b, c, d = dice.randint(10, 30), dice.randint(2, 9), dice.randint(2, 9), dice.randint(2, 9)
        self.key = a + b + c - d
        return f"Savings {a}. Then plus {b}, plus {c}, minus {d}. Savings now?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
