import random


class ScoreSheet:
    """Sum of four scores."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        scores = dice.sample(range(2, 16), 4)
        self.key = sum(scores)
        return f"Scores: {', '.join(map(str, scores))}. Sum?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
