class CandleTrack(TextGame):
    max_turns = 5
    def reset(self, seed=None):
        r = self.start(seed)
        self.x, self.y = 0, 0
        self.u, self.w = 0 + r.choice([-2, -1, 1, 2]), 0 + r.choice([-2, -1, 1, 2])
        self.tries = 0
        return self.show(f"The wax waits at {self.u} {self.w}; the candle stands at {self.x} {self.y}. Nobody minds the droplets. east and up add 1 to the first or second number. Moves: east, west, up or down.")
    def step(self, action):
        self.tries += 1
        if action == "east":
            self.x += 1
        elif action == "west":
            self.x -= 1
        elif action == "up":
            self.y += 1
        elif action == "down":
            self.y -= 1
        else:
            return self.tell("Use east, west, up or down.")
        if [self.x, self.y] == [self.u, self.w]:
            return self.finish(True, "Arrived.")
        return self.tell(f"Now at {self.x} {self.y}. Tries so far: {self.tries}.")
    def solution(self):
        a, b = self.u - self.x, self.w - self.y
        plan = ["east"] * a + ["west"] * -a + ["up"] * b + ["down"] * -b
        return plan
