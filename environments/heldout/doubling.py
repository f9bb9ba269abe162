import random


class Doubling:
    """Doubling."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        a = dice.randint(1, 6)
        self.key = 16 * a
        return f"{a}, {2 * a}, {4 * a}, {8 * a} and then?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
