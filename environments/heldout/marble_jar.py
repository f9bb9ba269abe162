import random


class MarbleJar:
    """One addition of two digits."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        have = dice.randint(1, 9)
        more = dice.randint(1, 9)
        self.key = have + more
        return f"Mia has {have} marbles and gets {more} more. Give her new number of marbles.", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
