import random

class Guess:
    def reset(self, seed=None):
        self.word = random.Random(seed).choice(["ivy", "oak", "elm", "ash", "yew"])
        return f"Which tree has the letters {' '.join(sorted(self.word))}?"
    def step(self, action):
        return "over", 1.0 if action.strip().lower() == self.word else 0.0, True, False, {}
    def solution(self): return [self.word]
