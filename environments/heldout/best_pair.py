import random


class BestPair:
    """Sum of the two largest."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        n = dice.sample(range(2, 15), 3)
        self.key = sum(n) - min(n)
        return f"Take two of {n[0]}, {n[1]}, {n[2]}. Largest sum?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
