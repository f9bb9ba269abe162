import random


class UnderLimit:
    """The largest under a limit."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        n = dice.sample(range(3, 30), 4)
        limit = sorted(n)[2] + dice.randint(0, 1)
        while limit >= max(n): limit -= 1
        self.key = max(x for x in n if x <= limit)
        return f"Loads: {', '.join(map(str, n))}. Limit {limit}. Largest load allowed?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
