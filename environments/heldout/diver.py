import random


class Diver:
    """Three moves down and up."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        a, b, c = dice.randint(12, 20), dice.randint(2, 6), dice.randint(2, 6)
        self.key = a - b + c
        return f"A diver is at level {a}. Down {b}, up {c}. Level now?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
