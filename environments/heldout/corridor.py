import random


class Corridor:
    """Walk along a corridor; after each move the distance to the goal is told."""

    def __init__(self, max_turns=6):
        self.max_turns = max_turns

    def reset(self, seed=None):
        dice = random.Random(seed)
        self.me = 5
        self.goal = 5 + dice.choice([-1, 1]) * dice.randint(2, 4)
        self.used = 0
        return f"You are in a corridor. The exit is {abs(self.goal - self.me)} doors away. Say east or west.", {}

    def step(self, action):
        self.used += 1
        word = str(action).strip().lower()
        if word in ("east", "west"):
            self.me += 1 if word == "east" else -1
            if self.me == self.goal:
                return "You are out.", 1.0, True, False, {}
            text = f"Now the exit is {abs(self.goal - self.me)} doors away. Say east or west."
        else:
            text = "Only east or west."
        return text, 0.0, False, self.used >= self.max_turns, {}

    def solution(self):
        return ["east" if self.goal > self.me else "west"] * abs(self.goal - self.me)
