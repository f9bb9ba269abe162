import random


class Ladder:
    """One move up."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        a, b = dice.randint(1, 15), dice.randint(2, 9)
        self.key = a + b
        return f"Rung {a}, then {b} rungs up. Which rung?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
