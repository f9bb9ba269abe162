import random

class Numeric:
    def reset(self, seed=None):
        self.k = random.Random(seed).randint(2, 60)
        return f"Fifteen times {self.k}?", {}
    def step(self, action):
        return "end", float(action.strip() == str(15 * self.k)), True, False, {}
    def solution(self): return 15 * self.k
