import random


class OddOne:
    """The one that is not there twice."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        names = dice.sample(["oak", "elm", "ash", "fir"], 3)
        row = [names[0], names[1], names[2], names[0], names[1]]
        self.key = names[2]
        return f"{' '.join(row)}: which one is named once?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
