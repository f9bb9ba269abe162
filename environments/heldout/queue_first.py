import random


class QueueFirst:
    """The first of a row."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        row = dice.sample(["cup", "pen", "key", "map", "hat"], 4)
        self.key = row[0]
        return f"Row: {', '.join(row)}. Leftmost?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
