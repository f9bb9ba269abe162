class TreeParserRefill(TextGame):
    max_turns = 8
    def reset(self, seed=None):
        r = self.start(seed)
        self.goal = r.randint(7, 23)
        self.level = r.randint(0, 1)
        self.tries = 0
        return self.show(f"Goal for the tree: {self.goal} token, now {self.level}. {r.randint(2, 30)} instructions lay by the program. The compiler does not matter. Moves: give 1, give 6.")
    def step(self, action):
        self.tries += 1
        if action == "give 1":
            self.level += 1
        elif action == "give 6":
            self.level += 6
        else:
            return self.tell("Use give 1 or give 6.")
        if self.level > self.goal:
            return self.finish(False, "Too much.")
        if self.goal == self.level:
            return self.finish(True, "Exactly full.")
        return self.tell(f"Now {self.level}, goal {self.goal}. Turn {self.tries}.")
    def solution(self):
        gap = self.goal - self.level
        return ["give 6"] * (gap // 6) + ["give 1"] * (gap % 6)
