class RunnerOrder(TextGame):
    difficulty = 1

    def reset(self, seed=None):
        r = self.start(seed)
        self.line = r.sample(["ada", "ben", "cora", "dan", "eve", "finn", "gus", "hal"], min(self.difficulty + 2, 8))
        facts = [f"Next after {a} is {b}." for a, b in zip(self.line, self.line[1:])]
        r.shuffle(facts)
        return self.show(f"{len(self.line)} runners came one after another. {' '.join(facts)} What is the full order of the {len(self.line)}?")

    def step(self, action):
        return self.judge(action, self.line)

    def solution(self):
        return [" ".join(self.line)]
