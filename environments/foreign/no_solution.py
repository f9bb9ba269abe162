import random

class Silent:
    def reset(self, seed=None):
        self.k = random.Random(seed).randint(2, 60)
        return f"Fourteen times {self.k}?", {}
    def step(self, action):
        return "end", float(action.strip() == str(14 * self.k)), True, False, {}
