import random


class WetFloor:
    """A cut chain, counted."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        total = dice.randint(4, 6)
        cut = dice.randint(2, total - 1)
        self.key = cut - 1
        return f"Machines 1 to {total} stand in a line. Each one drives the next. Machine {cut} breaks. How many machines still run?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
