class BucketTiming(TextGame):
    max_turns = 1
    def reset(self, seed=None):
        r = self.start(seed)
        self.order = ["bucket", "heart", "leg"]
        self.x = r.sample(range(1, 10), 2)
        facts = [f"{a} causes {b}, {n} later." for a, b, n in zip(self.order, self.order[1:], self.x)]
        return self.show(f"{' '.join(facts)} At time 0 bucket happens. When does leg happen?")
    def step(self, action):
        want = sum(self.x)
        return self.judge(action, want)
    def solution(self):
        return [sum(self.x)]
