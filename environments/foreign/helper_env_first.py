import random

class GridEnv:
    def reset(self, seed=None): return "grid", {}
    def step(self, action): return "grid", 0.0, False, False, {}

class RealGameEnv:
    def __init__(self, max_turns=5):
        self.grid = GridEnv()
        self.max_turns = max_turns
    def reset(self, seed=None):
        self.row = random.Random(seed).randint(1, 90)
        return self.grid.reset(seed)[0] + f" row {self.row}: name the row below.", {}
    def step(self, action):
        return "moved", float(action.strip() == str(self.row + 1)), True, False, {}
    def solution(self): return [str(self.row + 1)]
