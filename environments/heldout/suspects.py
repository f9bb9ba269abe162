import random


class Suspects:
    """Elimination among four."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        names = dice.sample(["Ann", "Ben", "Cem", "Dov", "Eve", "Fin"], 4)
        self.key = dice.choice(names)
        out = [name for name in names if name != self.key]
        dice.shuffle(out)
        return f"Suspects: {', '.join(names)}. Innocent: {', '.join(out)}. Who did it?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
