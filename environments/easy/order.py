class SnowRanking(TextGame):
    def reset(self, seed=None):
        r = self.start(seed)
        self.line = ["snow", "square", "slope"]
        r.shuffle(self.line)
        facts = [f"Next after {a} is {b}." for a, b in zip(self.line, self.line[1:])]
        r.shuffle(facts)
        self.target = self.line
        return self.show(f"The carpenter does not matter. 3 things came one after another. {facts[0]} {facts[1]} What is the full order of the 3?")
    def step(self, action):
        return self.judge(action, self.target)
    def solution(self):
        return [" ".join(str(n) for n in self.target)]
