class GearsRow(TextGame):
    def reset(self, seed=None):
        r = self.start(seed)
        self.line = r.sample(["gears", "rod", "wheel", "windpump", "trough"], 5)
        self.k = r.randint(2, 4)
        self.m = r.randint(1, 2)
        return self.show(f"The row reads {', '.join(self.line)}. Which thing stands {self.m} left of {self.line[self.k]}?")
    def step(self, action):
        return self.judge(action, self.line[self.k - self.m])
    def solution(self):
        return [self.line[self.k - self.m]]
