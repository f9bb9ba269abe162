import random


class ShelfRow:
    """A neighbour among five things."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        row = dice.sample(["cup", "book", "lamp", "shoe", "ball", "vase"], 5)
        i = dice.randint(1, 3)
        side = dice.choice(["left", "right"])
        self.key = row[i - 1] if side == 'left' else row[i + 1]
        return f"From left to right stand: {', '.join(row)}. Which thing stands directly {side} of the {row[i]}?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
