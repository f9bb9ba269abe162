import random


class ThreeClimbers:
    """Four climbers, facts in order."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        ana, ben, cal, dot = dice.sample(["Ana", "Ben", "Cal", "Dot", "Eli", "Fay"], 4)
        facts = [f"{ana} is above {ben}.", f"{ben} is above {cal}.", f"{cal} is above {dot}."]
        dice.shuffle(facts)
        self.key = ana
        return " ".join(facts) + " Who is on top?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
