class PivotShare(TextGame):
    def reset(self, seed=None):
        r = self.start(seed)
        self.each = 3
        self.a = r.randint(4, 18)
        story = f"At the log someone has a force. There are {self.a} pivot to share out."
        return self.show(story + f" A bar is full at {self.each}. Count the complete bar.")
    def step(self, action):
        return self.judge(action, self.a // self.each)
    def solution(self):
        return [self.a // self.each]
