import random
from collections import OrderedDict

class Text(str):
    pass

class Wrapped:
    def reset(self, seed=None):
        self.k = random.Random(seed).randint(2, 60)
        return Text(f"Twenty times {self.k}?"), OrderedDict(k=self.k)
    def step(self, action):
        return Text("end"), float(action.strip() == str(20 * self.k)), True, False, OrderedDict()
    def solution(self): return (str(20 * self.k),)
