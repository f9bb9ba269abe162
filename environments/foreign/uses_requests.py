import requests

class Web:
    def reset(self, seed=None): return 'go'
    def step(self, action): return 'x', 0.0, True, False, {}
