import random


class ThreeDelays:
    """Three delays in a row."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        a, b, c = dice.randint(1, 9), dice.randint(1, 9), dice.randint(1, 9)
        self.key = a + b + c
        return f"Rain, then {a} hours later mud, then {b} hours later a slide, then {c} hours later a jam. Rain was at 0. When was the jam?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
