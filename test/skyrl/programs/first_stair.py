class FirstStair(TextGame):
    def reset(self, seed=None):
        r = self.start(seed)
        self.answer, rise = r.randint(1, 4), r.randint(4, 7)
        heights = [self.answer + k * rise for k in range(1, 4)]
        return self.show(f"Stairs rise evenly. The second to the fourth are {heights[0]}, {heights[1]} and {heights[2]} hands high: how high is the first?")
    def step(self, action):
        return self.judge(action, self.answer)
    def solution(self):
        return [self.answer]
