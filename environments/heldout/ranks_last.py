import random


class RanksLast:
    """Last of three by a chain."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        a, b, c = dice.sample(["Ann", "Ben", "Cem", "Dov", "Eve"], 3)
        facts = [f"{a} is before {b}.", f"{b} is before {c}."]
        dice.shuffle(facts)
        self.key = c
        return " ".join(facts) + " Who is last?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
