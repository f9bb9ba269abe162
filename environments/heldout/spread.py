import random


class Spread:
    """Largest less smallest."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        n = dice.sample(range(2, 30), 4)
        self.key = max(n) - min(n)
        return f"Depths: {', '.join(map(str, n))}. Deepest minus shallowest?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
