import random


class Beads:
    """A cycle of two."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        a, b = dice.sample(["red", "blue", "green", "black"], 2)
        n = dice.randint(3, 6)
        row = [a if i % 2 == 0 else b for i in range(n)]
        self.key = a if n % 2 == 0 else b
        return f"Beads: {' '.join(row)}. Next bead?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
