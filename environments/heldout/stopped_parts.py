import random


class StoppedParts:
    """How many parts stop."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        n = dice.randint(4, 7)
        k = dice.randint(2, n)
        self.key = n - k + 1
        return f"Pumps 1 to {n}, each fed by the one before. Pump {k} stops. How many pumps stop?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
