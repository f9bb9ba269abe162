class Dicts:
    def reset(self, seed=None): return {'cell': 1}, {}
    def step(self, action): return 'x', 0.0, True, False, {}
