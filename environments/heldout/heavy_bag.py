import random


class HeavyBag:
    """Maximum of four under a limit."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        names = dice.sample(["rope", "tent", "pan", "stove", "axe", "drum"], 4)
        loads = dice.sample(range(2, 20), 4)
        limit = sorted(loads)[2] + dice.randint(0, sorted(loads)[3] - sorted(loads)[2] - 1)
        best = names[loads.index(sorted(loads)[2])]
        self.key = best
        return "Weights: " + ", ".join(f"{name} {load}" for name, load in zip(names, loads)) + f". You may carry at most {limit}. Which is the heaviest thing you can carry?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
