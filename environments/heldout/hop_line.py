import random


class HopLine:
    """One move on a line."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        at = dice.randint(5, 9)
        hop = dice.randint(1, 4)
        way = dice.choice(["forward", "back"])
        self.key = at + hop if way == 'forward' else at - hop
        return f"A frog sits on stone {at}. It hops {hop} stones {way}. On which stone is it now?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
