class SharedBuns(TextGame):
    def reset(self, seed=None):
        r = self.start(seed)
        self.answer, children = r.randint(1, 4), r.randint(5, 9)
        return self.show(f"{children} children share {children * self.answer} buns evenly: how many does each get?")
    def step(self, action):
        return self.judge(action, self.answer)
    def solution(self):
        return [self.answer]
