from abc import ABC, abstractmethod
import random

class BaseEnv(ABC):
    def __init__(self, max_turns=3): self.max_turns = max_turns
    @abstractmethod
    def reset(self, seed=None): ...
    @abstractmethod
    def step(self, action): ...

class SumEnv(BaseEnv):
    def reset(self, seed=None):
        r = random.Random(seed)
        self.xs = [r.randint(1, 9) for _ in range(4)]
        return f"Add {self.xs}", {}
    def step(self, action):
        return "end", float(action.strip() == str(sum(self.xs))), True, False, {}
    def solution(self): return [str(sum(self.xs))]
