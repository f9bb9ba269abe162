class ScaleLock(TextGame):
    max_turns = 4
    def reset(self, seed=None):
        r = self.start(seed)
        self.code = [r.randint(1, 5) for _ in range(2)]
        actor = r.choice(["scale", "coins"])
        text = f"The wall of the {actor} has 2 secret digits, 1 to 5. You will be told higher, lower or ok for each one. Answer like 3 4."
        return self.show(text)
    def step(self, action):
        parts = action.replace(",", " ").split()
        if len(parts) != 2 or not all(g in "123456789" for g in parts):
            return self.tell("Reply with 2 numbers.")
        marks = ["higher" if int(g) < n else "lower" if int(g) > n else "ok" for g, n in zip(parts, self.code)]
        if marks == ["ok"] * 2:
            return self.finish(True, "Open.")
        return self.tell(" ".join(marks))
    def solution(self):
        plan = [" ".join(str(n) for n in self.code)]
        return plan
