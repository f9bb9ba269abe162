import random


class TwoDelays:
    """Two delays in a row."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        a, b = dice.randint(1, 9), dice.randint(1, 9)
        self.key = a + b
        return f"The spark lights the fuse after {a} seconds. The fuse fires the rocket after {b} more. Seconds in all?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
