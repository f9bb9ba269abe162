import random

class BoxedProse:
    def reset(self, seed=None):
        self.k = random.Random(seed).randint(2, 60)
        return f"Twelve times {self.k}? Use \\boxed{{}}.", {}
    def step(self, action):
        return "end", float(action.strip() == str(12 * self.k)), True, False, {}
    def solution(self):
        return f"Ten times and two times {self.k} make \\boxed{{{12 * self.k}}}."
