import random


class QueuePlace:
    """The thing at a place."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        row = dice.sample(["cup", "pen", "key", "map", "hat"], 4)
        i = dice.randint(1, 4)
        self.key = row[i - 1]
        return f"Row: {', '.join(row)}. What is at place {i}?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
