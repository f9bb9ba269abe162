class Configured:
    def __init__(self, config): self.config = config
    def reset(self, seed=None): return 'go'
    def step(self, action): return 'x', 0.0, True, False, {}
