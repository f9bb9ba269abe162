import random

class int64:
    def __init__(self, value): self._value = int(value)
    def item(self): return self._value

class bool_(int64):
    def item(self): return bool(self._value)

class CounterEnv:
    def reset(self, seed=None):
        self.n = random.Random(seed).randint(2, 50)
        return f"What is twice {self.n}?", {"n": int64(self.n)}
    def step(self, action):
        won = action.strip() == str(2 * self.n)
        return "done", int64(won), bool_(True), bool_(False), {"a": int64(3)}
    def solution(self): return [str(2 * self.n)]
