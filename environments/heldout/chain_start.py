import random


class ChainStart:
    """The first cause."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        row = dice.sample(["rain", "mud", "slide", "jam", "fire"], 3)
        self.key = row[0]
        return f"{row[0]} causes {row[1]}. {row[1]} causes {row[2]}. First cause of {row[2]}?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
