import random


class FastName:
    """The name with the least."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        names = dice.sample(["bus", "car", "tram", "bike"], 3)
        n = dice.sample(range(2, 20), 3)
        self.key = names[n.index(min(n))]
        return f"Minutes: {', '.join(f'{who} {got}' for who, got in zip(names, n))}. Fastest?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
