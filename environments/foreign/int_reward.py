import random

class Truth:
    def reset(self, seed=None):
        self.k = random.Random(seed).randint(2, 60)
        return f"Nineteen times {self.k}?", {}
    def step(self, action):
        return "end", action.strip() == str(19 * self.k), True, False, {}
    def solution(self): return [str(19 * self.k)]
