import random

class Seeded:
    def reset(self, seed=None):
        self.rng = random.Random(seed)
        return self.begin(), {}

class Leaf(Seeded):
    def begin(self):
        self.k = self.rng.randint(2, 60)
        return f"Twenty-two times {self.k}?"
    def step(self, action):
        return "end", float(action.strip() == str(22 * self.k)), True, False, {}
    def solution(self): return [str(22 * self.k)]
