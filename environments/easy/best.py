class StrideMudBest(TextGame):
    max_turns = 1
    def reset(self, seed=None):
        r = self.start(seed)
        names = ["stride", "mud", "fox", "rhythm", "ranger"]
        x = dict(zip(names, r.sample(range(1, 20), 5)))
        self.target = max(x, key=lambda w: x[w])
        return self.show(f"They measured {', '.join(w + ' ' + str(n) for w, n in x.items())}. Choose the one with the most.")
    def step(self, action):
        return self.judge(action, self.target)
    def solution(self):
        return [self.target]
