class FishTomatoesSorter(TextGame):
    def reset(self, seed=None):
        r = self.start(seed)
        values = r.sample(range(1, 17), 3)
        marks = []
        for n in values:
            marks.append("tomatoes" if n < 9 else "crates")
        self.target = marks
        return self.show(f"Readings of the fish: {', '.join(str(n) for n in values)}. Below 9 stalls say tomatoes, else crates. Reply with one word for each number.")
    def step(self, action):
        return self.judge(action, self.target)
    def solution(self):
        return [" ".join(str(n) for n in self.target)]
