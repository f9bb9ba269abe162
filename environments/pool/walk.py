class BoatWalk(TextGame):
    difficulty = 1
    max_turns = 24
    moves = {"east": (1, 0), "west": (-1, 0), "up": (0, 1), "down": (0, -1)}

    def reset(self, seed=None):
        r = self.start(seed)
        reach = self.difficulty + 1
        self.x, self.y = 0, 0
        self.goal = r.choice([-1, 1]) * r.randint(1, reach), r.choice([-1, 1]) * r.randint(1, reach)
        return self.show(f"The boat is at 0 0; the buoy is at {self.goal[0]} {self.goal[1]}. Moves: east, west, up or down. east and up add 1 to the first or second number.")

    def step(self, action):
        if action not in self.moves:
            return self.tell("Use east, west, up or down.")
        dx, dy = self.moves[action]
        self.x, self.y = self.x + dx, self.y + dy
        if (self.x, self.y) == self.goal:
            return self.finish(True, "Arrived.")
        return self.tell(f"Now at {self.x} {self.y}.")

    def solution(self):
        a, b = self.goal
        return ["east"] * a + ["west"] * -a + ["up"] * b + ["down"] * -b
