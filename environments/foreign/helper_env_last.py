import random

class Journey:
    def reset(self, seed=None):
        self.clock = Clock()
        self.clock.reset(seed)
        return f"It is {self.clock.hour} o'clock. Five hours later?", {}
    def step(self, action):
        return "tick", float(action.strip() == str((self.clock.hour + 5) % 24)), True, False, {}
    def solution(self): return [str((self.clock.hour + 5) % 24)]

class Clock:
    def reset(self, seed=None): self.hour = random.Random(seed).randrange(24)
    def step(self, action): self.hour += 1
