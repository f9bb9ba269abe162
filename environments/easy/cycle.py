class ClockCoilRound(TextGame):
    def reset(self, seed=None):
        r = self.start(seed)
        self.ring = ["clock", "coil", "spring", "vault"]
        r.shuffle(self.ring)
        self.shift = r.randrange(4)
        story = f"A wheel shows {' '.join(self.ring[k % 4] for k in range(4 + self.shift))} and so on. Name the next one."
        return self.show(story)
    def step(self, action):
        return self.judge(action, self.ring[self.shift])
    def solution(self):
        return [self.ring[self.shift]]
