import random


class FairSplit:
    """An exact division."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        b, q = dice.randint(2, 6), dice.randint(2, 9)
        self.key = q
        return f"{b * q} shells are split evenly among {b} children. Shells per child?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
