import random


class Podium:
    """Four runners, facts shuffled."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        runners = dice.sample(["Gus", "Hal", "Ida", "Jon", "Kim", "Lou"], 4)
        facts = [f"{runners[i]} beat {runners[i + 1]}." for i in range(3)]
        dice.shuffle(facts)
        self.key = runners[1]
        return " ".join(facts) + " Who came second?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
