import random


class HowManyFit:
    """How many fit."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        size, room = dice.randint(2, 6), dice.randint(12, 40)
        self.key = room // size
        return f"Shelf {room} wide, books {size} wide. How many books fit?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
