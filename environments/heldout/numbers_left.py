import random


class NumbersLeft:
    """The number that is missing."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        n = [1, 2, 3, 4, 5]
        self.key = dice.choice(n)
        n.remove(self.key)
        dice.shuffle(n)
        return f"Cards 1 to 5. On the table: {', '.join(map(str, n))}. Which card is missing?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
