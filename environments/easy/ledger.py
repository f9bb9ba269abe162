class StairTotal(TextGame):
    def reset(self, seed=None):
        r = self.start(seed)
        self.n = r.randrange(2, 10)
        self.m = r.randrange(2, 10)
        return self.show(f"At the parents someone has a climbed. A stair starts at {self.n} ways. Someone put in {self.m} more. Work out the ways.")
    def compute(self):
        want = self.n + self.m
        return want
    def step(self, action):
        return self.judge(action, self.compute())
    def solution(self):
        return [self.compute()]
