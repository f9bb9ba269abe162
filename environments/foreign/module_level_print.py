import random

print("loading")

class Loud:
    def reset(self, seed=None):
        print("reset", seed)
        self.k = random.Random(seed).randint(2, 60)
        return f"Seventeen times {self.k}?", {}
    def step(self, action):
        return "end", float(action.strip() == str(17 * self.k)), True, False, {}
    def solution(self): return [str(17 * self.k)]

environment = Loud()
