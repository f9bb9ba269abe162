import random

class Guarded:
    def reset(self, seed=None):
        self.k = random.Random(seed).randint(2, 60)
        return f"Sixteen times {self.k}?", {}
    def step(self, action):
        return "end", float(action.strip() == str(16 * self.k)), True, False, {}
    def solution(self): return [str(16 * self.k)]

if __name__ == "__main__":
    env = Guarded()
    print(env.reset(0))
    input("go? ")
