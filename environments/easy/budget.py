class CenturyBudget(TextGame):
    def reset(self, seed=None):
        r = self.start(seed)
        first = r.randrange(5, 21)
        self.want = first // 4
        return self.show(f"{first} years are available. Every century takes 4 years. Nobody minds the month. Find the most that can be bought.")
    def step(self, action):
        return self.judge(action, self.want)
    def solution(self):
        return [self.want]
