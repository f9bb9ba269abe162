class MissingKey(TextGame):
    def reset(self, seed=None):
        r = self.start(seed)
        keys = [1, 2, 3, 4]
        r.shuffle(keys)
        self.answer = keys.pop()
        return self.show(f"Four keys are numbered from one to four. On the hook hang {keys[0]}, {keys[1]} and {keys[2]}: which one is missing?")
    def step(self, action):
        return self.judge(action, self.answer)
    def solution(self):
        return [self.answer]
