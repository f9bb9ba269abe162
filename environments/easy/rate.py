class FeetLoad(TextGame):
    def reset(self, seed=None):
        r = self.start(seed)
        actor = r.choice(["feet", "sea"])
        rate = 2
        x = r.randint(2, 9)
        self.target = x * rate
        return self.show(f"There are {rate} weeks per {actor}. The fold has {x} such. How many weeks in all? Give one number.")
    def step(self, action):
        return self.judge(action, self.target)
    def solution(self):
        return [self.target]
