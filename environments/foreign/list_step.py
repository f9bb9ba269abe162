import random

class Listed:
    def reset(self, seed=None):
        self.k = random.Random(seed).randint(2, 60)
        return [f"The square of {self.k}?", {}]
    def step(self, action):
        return ["end", float(action.strip() == str(self.k ** 2)), True, False, {}]
    def solution(self): return [str(self.k ** 2)]
