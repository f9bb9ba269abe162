import random

class Global:
    def reset(self, seed=None):
        random.seed(seed)
        self.k = random.randint(2, 60)
        return f"Twenty-three times {self.k}?", {}
    def step(self, action):
        return "end", float(action.strip() == str(23 * self.k)), True, False, {}
    def solution(self): return [str(23 * self.k)]
