import random


class IsEven:
    """Which number is even."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        odd = dice.sample([3, 5, 7, 9, 11, 13], 3)
        self.key = dice.choice([2, 4, 6, 8, 12])
        n = odd + [self.key]
        dice.shuffle(n)
        return f"{', '.join(map(str, n))}: which is even?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
