import numpy as np

class Needs:
    def reset(self, seed=None): return str(np.zeros(2)), {}
    def step(self, action): return 'x', 0.0, True, False, {}
