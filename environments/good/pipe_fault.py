import random


class PipeFault:
    """Deduce the first failed node of a causal chain with branches from the readings of gauges."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        names = rng.sample(["pump", "filter", "boiler", "valve", "tank", "meter", "mixer", "cooler"], 7)
        parent = {names[0]: None}
        for i in range(1, 7):
            parent[names[i]] = rng.choice(names[max(0, i - 3) : i])
        self.broken = rng.choice(names[1:])
        dead = {self.broken}
        for name in names:
            if parent[name] in dead:
                dead.add(name)
        order = names[1:]
        rng.shuffle(order)
        pipes = "; ".join(f"the {parent[n]} feeds the {n}" for n in order)
        rng.shuffle(names)
        readings = ", ".join(f"{n} {'dry' if n in dead else 'wet'}" for n in names)
        return f"In the waterworks {pipes}. Water reaches a part only through the part that feeds it. One part is blocked. Gauges: {readings}. Which part is blocked? Answer in \\boxed{{}}.", {}

    def step(self, action):
        word = action.strip().lower().removeprefix("the ").rstrip(".")
        return "The plumber opens it.", 1.0 if word == self.broken else 0.0, True, False, {}

    def solution(self):
        return [self.broken]
