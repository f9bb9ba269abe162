import random


class RootFault:
    """A chain told in any order."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        chain = dice.sample(["fuse", "pump", "belt", "lamp", "horn", "door"], 4)
        facts = [f"If the {chain[i]} fails, the {chain[i + 1]} fails." for i in range(3)]
        dice.shuffle(facts)
        self.key = chain[0]
        return " ".join(facts) + f" All four failed. Which one failed first?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
