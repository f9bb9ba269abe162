class Nan:
    def reset(self, seed=None): return 'go'
    def step(self, action): return 'x', float('nan'), True, False, {}
