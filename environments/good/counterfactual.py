import random


class CounterfactualEnv:
    """Abduction, action, prediction on a linear model with noise terms."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        a, b, c = (rng.randint(2, 6) for _ in range(3))
        rain, pump = rng.randint(3, 12), rng.randint(1, 9)
        seep = rng.randint(-5, 9)
        leak = rng.randint(-5, 9)
        soil = a * rain + seep
        pond = b * soil + c * pump + leak
        other = rain + rng.choice([-2, -1, 1, 2, 3])
        self.pond = b * (a * other + seep) + c * pump + leak
        return (
            f"In a farmer's valley the soil water is {a} times the rain plus seepage, and the pond is {b} times the soil water plus {c} times the pump hours plus leakage. "
            f"Last month the rain was {rain}, the soil water {soil}, the pump ran {pump} hours and the pond stood at {pond}. Seepage and leakage of that month stay as they were. "
            f"Where would the pond have stood with a rain of {other}? Integer in \\boxed{{}}."
        ), {}

    def step(self, action):
        return "The farmer nods slowly.", int(same(action, self.pond)), True, False, {}

    def solution(self):
        return str(self.pond)

    def hint(self):
        return "Work out seepage and leakage from last month first; then change the rain alone and go down the chain again."
