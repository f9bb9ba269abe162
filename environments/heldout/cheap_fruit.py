import random


class CheapFruit:
    """Minimum of four."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        fruits = dice.sample(["plum", "pear", "fig", "kiwi", "lime", "date"], 4)
        prices = dice.sample(range(1, 10), 4)
        best = fruits[prices.index(min(prices))]
        self.key = best
        return "Prices: " + ", ".join(f"{fruit} {price}" for fruit, price in zip(fruits, prices)) + ". You want to pay as little as possible. Which fruit?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
