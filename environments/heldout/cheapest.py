import random


class Cheapest:
    """Minimum of four."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        n = dice.sample(range(2, 40), 4)
        self.key = min(n)
        return f"Offers: {', '.join(map(str, n))}. Lowest offer?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
