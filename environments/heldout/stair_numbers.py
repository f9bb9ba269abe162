import random


class StairNumbers:
    """An arithmetic sequence."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        first = dice.randint(1, 5)
        gap = dice.randint(1, 4)
        shown = [first + gap * i for i in range(4)]
        self.key = first + 4 * gap
        return f"{', '.join(map(str, shown))}, ... Write the number that comes now.", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
