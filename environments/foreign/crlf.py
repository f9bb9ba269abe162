import random

class Lines:
    """Docstring with
    two lines."""
    def reset(self, seed=None):
        self.k = random.Random(seed).randint(2, 60)
        return f"Three times {self.k}?", {}

    def step(self, action):
        return "end", float(action.strip() == str(3 * self.k)), True, False, {}

    def solution(self):
        return [str(3 * self.k)]
