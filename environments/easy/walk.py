class BenchPath(TextGame):
    def reset(self, seed=None):
        r = self.start(seed)
        x, y = r.randint(1, 6), r.randint(1, 6)
        thing = r.choice(["bench", "comb"])
        self.want = [x, 7 + y]
        text = f"A {thing} stands on a grid at 0 7. It goes {x} right. Now {y} up. The first number grows right, the second up. A cape counted {r.randint(2, 30)} minutes. Which x y is reached?"
        return self.show(text)
    def step(self, action):
        return self.judge(action, self.want)
    def solution(self):
        return [" ".join(str(n) for n in self.want)]
