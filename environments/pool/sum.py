class CrateSum(TextGame):
    difficulty = 1

    def reset(self, seed=None):
        r = self.start(seed)
        crates = [r.randint(2, 9) for _ in range(self.difficulty + 1)]
        self.total = sum(crates)
        return self.show(f"Crates hold {', '.join(map(str, crates))} apples. How many apples are there in all?")

    def step(self, action):
        return self.judge(action, self.total)

    def solution(self):
        return [self.total]
