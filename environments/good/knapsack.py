import random


def best_value(items, capacity):
    table = [0] * (capacity + 1)
    for weight, value in items:
        for room in range(capacity, weight - 1, -1):
            table[room] = max(table[room], table[room - weight] + value)
    return table[capacity]


class Knapsack:
    """0/1 knapsack: the best total value."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        names = rng.sample(["rope", "tent", "stove", "lamp", "axe", "map", "blanket"], 6)
        items = [(rng.randint(2, 9), rng.randint(5, 30)) for _ in names]
        capacity = rng.randint(12, 20)
        self.best = best_value(items, capacity)
        told = "; ".join(f"{n}: {w} kg, worth {v}" for n, (w, v) in zip(names, items))
        return f"A climber's rucksack holds {capacity} kg. The climber may pack each thing once. {told}. What is the greatest total worth that fits? Answer in \\boxed{{}}.", {}

    def step(self, action):
        won = same(action, self.best)
        text = "That is the best load." if won else "A better load exists, or it does not fit."
        return text, (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.best)]
