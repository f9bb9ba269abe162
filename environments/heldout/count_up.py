import random


class CountUp:
    """Arithmetic progression."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        a, d = dice.randint(1, 20), dice.randint(2, 9)
        self.key = a + 4 * d
        return f"Continue: {a}, {a + d}, {a + 2 * d}, {a + 3 * d}", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
