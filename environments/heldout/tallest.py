import random


class Tallest:
    """Maximum of three."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        n = dice.sample(range(2, 40), 3)
        self.key = max(n)
        return f"Towers of {n[0]}, {n[1]} and {n[2]} metres. Height of the tallest?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
