import random


class PlusRule:
    """A rule shown by three pairs."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        d = dice.randint(2, 9)
        xs = dice.sample(range(1, 15), 4)
        self.key = xs[3] + d
        return f"{xs[0]} -> {xs[0] + d}, {xs[1]} -> {xs[1] + d}, {xs[2]} -> {xs[2] + d}, {xs[3]} -> ?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
