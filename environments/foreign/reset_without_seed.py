import random

class NoSeed:
    def reset(self):
        self.a, self.b = random.randint(10, 99), random.randint(10, 99)
        return f"{self.a} + {self.b} = ?", {}
    def step(self, action):
        return "end", float(action.strip() == str(self.a + self.b)), True, False, {}
    def solution(self): return [str(self.a + self.b)]
