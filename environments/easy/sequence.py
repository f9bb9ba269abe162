class SleepersFieldSeries(TextGame):
    def reset(self, seed=None):
        r = self.start(seed)
        a = r.randint(1, 10)
        d = r.randint(2, 5)
        self.result = a + 4 * d
        return self.show(f"By the rails and the track is a game. The sleepers shows {a}, {a + 1 * d}, {a + 2 * d}, {a + 3 * d}. Which number follows?")
    def step(self, action):
        return self.judge(action, self.result)
    def solution(self):
        return [self.result]
