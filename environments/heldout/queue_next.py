import random


class QueueNext:
    """Who stands behind."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        row = dice.sample(["Ann", "Ben", "Cem", "Dov", "Eve"], 4)
        i = dice.randint(0, 2)
        self.key = row[i + 1]
        return f"A queue: {', '.join(row)}. Who is right after {row[i]}?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
