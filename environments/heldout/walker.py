import random


class Walker:
    """Two moves on a line."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        a, b, c = dice.randint(5, 15), dice.randint(1, 5), dice.randint(1, 5)
        self.key = a + b - c
        return f"A walker is at {a}. Right {b}, left {c}. Where is the walker?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
