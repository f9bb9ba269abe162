import random

class Kwargs:
    def reset(self, **kwargs):
        self.k = random.Random(kwargs.get("seed")).randint(2, 60)
        return f"Eleven times {self.k}?", {}
    def step(self, action):
        return "end", float(action.strip() == str(11 * self.k)), True, False, {}
    def solution(self): return [str(11 * self.k)]
