import random


class FallingRow:
    """A chain told in order."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        chain = dice.sample(["bell", "cart", "gate", "bird", "fan", "kite"], 4)
        facts = [f"The {chain[i]} moves the {chain[i + 1]}." for i in range(3)]
        self.key = chain[3]
        return " ".join(facts) + f" Somebody moves the {chain[0]}. What moves last?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
