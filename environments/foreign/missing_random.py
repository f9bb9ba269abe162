class NoImport:
    def reset(self, seed=None):
        self.rng = random.Random(seed)
        self.k = self.rng.randint(2, 60)
        return f"Half of {2 * self.k}?", {}
    def step(self, action):
        return "end", float(action.strip() == str(self.k)), True, False, {}
    def solution(self): return [str(self.k)]
