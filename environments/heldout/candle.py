import random


class Candle:
    """A falling sequence."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        gap = dice.randint(2, 3)
        first = dice.randint(14, 19)
        shown = [first - gap * i for i in range(4)]
        self.key = first - 4 * gap
        return f"A candle is measured every hour: {', '.join(map(str, shown))}. What will the next measure be?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
