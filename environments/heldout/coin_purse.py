import random


class CoinPurse:
    """Four steps on one counter."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        start = dice.randint(8, 15)
        a, b, c, d = (dice.randint(2, 6) for _ in range(4))
        self.key = start - a + b - c + d
        return f"Tom owns {start} coins. He spends {a}, finds {b}, spends {c} and finds {d}. How many coins does Tom own?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
