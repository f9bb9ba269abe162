from fractions import Fraction
import random

class Shares:
    def reset(self, seed=None):
        self.k = random.Random(seed).randint(2, 60)
        return f"Twenty-four times {self.k}?", {}
    def step(self, action):
        return "end", Fraction(int(action.strip() == str(24 * self.k)), 1), True, False, {}
    def solution(self): return [str(24 * self.k)]
