import random

class Prose:
    def reset(self, seed=None):
        self.k = random.Random(seed).randint(2, 60)
        return f"Thirteen times {self.k}? Use \\boxed{{}}.", {}
    def step(self, action):
        return "end", float(action.strip() == str(13 * self.k)), True, False, {}
    def solution(self):
        return f"Multiply {self.k} by ten and by three and add the products."
