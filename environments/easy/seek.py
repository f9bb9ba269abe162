class BooksBagHunt(TextGame):
    max_turns = 3
    def reset(self, seed=None):
        r = self.start(seed)
        self.spot = r.randint(2, 11)
        scene = "By the rails and the china is a game. The furniture does not matter. Find the books: it is at a number from 1 to 11."
        return self.show(scene + " Every miss shows how far off you are. You have 3 tries.")
    def step(self, action):
        try:
            n = int(action)
        except Exception:
            return self.tell("Reply with a number.")
        gap = abs(n - self.spot)
        if n == self.spot:
            return self.finish(True, "Found.")
        return self.tell(f"Off by {gap}.")
    def solution(self):
        return [self.spot]
