import random


class Crates:
    """One product."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        a, b = dice.randint(2, 9), dice.randint(2, 9)
        self.key = a * b
        return f"{a} crates, {b} jars in each. Jars in all?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
