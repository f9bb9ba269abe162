import random


class BeadsThree:
    """A cycle of three."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        kinds = dice.sample(["red", "blue", "green", "black"], 3)
        n = dice.randint(4, 7)
        row = [kinds[i % 3] for i in range(n)]
        self.key = kinds[n % 3]
        return f"Beads: {' '.join(row)}. Next bead?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
