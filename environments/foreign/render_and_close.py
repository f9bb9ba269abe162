import random

class Drawn:
    max_turns = 4
    def reset(self, seed=None):
        self.k = random.Random(seed).randint(2, 60)
        return self.render(), {}
    def render(self, mode="ansi"): return f"Eighteen times {self.k}?"
    def close(self): pass
    @property
    def answer(self): return str(18 * self.k)
    def step(self, action):
        return "end", float(action.strip() == self.answer), True, False, {}
    def solution(self): return [self.answer]
