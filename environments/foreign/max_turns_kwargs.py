import random

class Turns:
    def __init__(self, max_turns=7, difficulty="easy", **kwargs):
        self.max_turns, self.difficulty, self.options = max_turns, difficulty, kwargs
    def reset(self, seed=None):
        self.k, self.t = random.Random(seed).randint(2, 60), 0
        return f"Guess a number up to 60 ({self.difficulty}) whose digits add up to {sum(map(int, str(self.k)))}.", {}
    def step(self, action):
        self.t += 1
        won = action.strip() == str(self.k)
        return "yes" if won else "no", float(won), won, self.t >= self.max_turns, {}
    def solution(self): return [str(self.k)]
