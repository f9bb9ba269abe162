import random


class TurtleWalk:
    """Follow turns and steps on a grid and report where the walker ends."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        x = y = 0
        heading = rng.randrange(4)
        compass = ["north", "east", "south", "west"]
        lines = [f"A surveyor starts at the post (0, 0) and faces {compass[heading]}."]
        for _ in range(rng.randint(4, 6)):
            turn = rng.choice(["left", "right", "round"])
            heading = (heading + {"left": 3, "right": 1, "round": 2}[turn]) % 4
            paces = rng.randint(2, 9)
            dx, dy = [(0, 1), (1, 0), (0, -1), (-1, 0)][heading]
            x, y = x + dx * paces, y + dy * paces
            lines.append(f"The surveyor turns {turn} and walks {paces} paces.")
        self.end = (x, y)
        lines.append("East is +x and north is +y. Where does the surveyor stand? Give (x, y) in \\boxed{}.")
        return " ".join(lines), {}

    def step(self, action):
        won = verify(parse(f"({self.end[0]}, {self.end[1]})"), parse(action))
        return f"The post stands at {self.end}.", 1.0 if won else 0.0, True, False, {}

    def solution(self):
        return [f"({self.end[0]}, {self.end[1]})"]

    def hint(self):
        return "Keep the heading apart from the position; turn first, then add the paces along the new heading."
