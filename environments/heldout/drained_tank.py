import random


class DrainedTank:
    """One difference."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        a = dice.randint(20, 60)
        b = dice.randint(3, 15)
        self.key = a - b
        return f"A tank of {a} litres loses {b} litres. What is left?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
