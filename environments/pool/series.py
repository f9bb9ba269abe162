class LampSeries(TextGame):
    difficulty = 1

    def reset(self, seed=None):
        r = self.start(seed)
        first, gap, growth = r.randint(1, 9), r.randint(2, 4 + self.difficulty), r.randint(1, self.difficulty) - 1
        shown = [first]
        for _ in range(4):
            shown.append(shown[-1] + gap)
            gap += growth
        self.result = shown.pop()
        return self.show(f"The lamps shows {', '.join(map(str, shown))}. Which number follows?")

    def step(self, action):
        return self.judge(action, self.result)

    def solution(self):
        return [self.result]
