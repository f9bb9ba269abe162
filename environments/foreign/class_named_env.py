import random

class Env:
    def reset(self, seed=None):
        self.k = random.Random(seed).randint(10, 99)
        return f"Reverse the digits of {self.k}.", {}
    def step(self, action):
        return "ok", float(action.strip() == str(self.k)[::-1]), True, False, {}
    def solution(self): return [str(self.k)[::-1]]
