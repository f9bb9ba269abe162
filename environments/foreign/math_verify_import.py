import random
from math_verify import parse, verify

class Checked:
    def reset(self, seed=None):
        self.k = random.Random(seed).randint(2, 60)
        return f"{self.k} divided by 8, exactly?", {}
    def step(self, action):
        return "end", 1.0 if verify(parse(f"\\frac{{{self.k}}}{{8}}"), parse(action)) else 0.0, True, False, {}
    def solution(self): return [f"{self.k}/8"]
