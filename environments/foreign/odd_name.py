import random

class X9:
    def reset(self, seed=None):
        self.k = random.Random(seed).randint(1, 500)
        return f"One more than {self.k}?", {}
    def step(self, action):
        return "", int(action.strip() == str(self.k + 1)), True, False, {}
    def solution(self): return [str(self.k + 1)]
