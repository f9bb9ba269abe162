class EatenPlums(TextGame):
    def reset(self, seed=None):
        r = self.start(seed)
        eaten, self.answer = r.randint(5, 12), r.randint(1, 4)
        return self.show(f"Of {eaten + self.answer} plums {eaten} are eaten: how many are left?")
    def step(self, action):
        return self.judge(action, self.answer)
    def solution(self):
        return [self.answer]
