import random

class Keyword:
    def reset(self, *, seed=None, options=None):
        self.k = random.Random(seed).randint(2, 60)
        return f"Seven times {self.k}?", {}
    def step(self, action):
        return "end", float(action.strip() == str(7 * self.k)), True, False, {}
    def solution(self): return [str(7 * self.k)]
