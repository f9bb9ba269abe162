class StrangerBreakdown(TextGame):
    max_turns = 1
    def reset(self, seed=None):
        r = self.start(seed)
        self.parts = ["stranger", "road", "liars", "harbour"]
        r.shuffle(self.parts)
        self.i = r.randint(1, 2)
        rules = [f"{b} depends on {a}." for a, b in zip(self.parts, self.parts[1:])]
        return self.show(f"{' '.join(rules)} Suppose {self.parts[self.i]} stops. List all that stop, the broken one first.")
    def step(self, action):
        return self.judge(action, self.parts[self.i:])
    def solution(self):
        return [" ".join(str(n) for n in self.parts[self.i:])]
