class EvenStep(TextGame):
    def reset(self, seed=None):
        r = self.start(seed)
        first, step = r.randint(1, 9), r.randint(1, 3)
        self.answer = first + 3 * step
        return self.show(f"{first}, {first + step}, {first + 2 * step}: which number is next?")
    def step(self, action):
        return self.judge(action, self.answer)
    def solution(self):
        return [self.answer]
