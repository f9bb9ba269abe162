import random


class HiddenKey:
    """Elimination of four from five."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        boxes = dice.sample(["red", "blue", "green", "black", "white"], 5)
        where = dice.choice(boxes)
        clues = [f"It is not in the {box} box." for box in boxes if box != where]
        dice.shuffle(clues)
        self.key = where
        return "A key is in one box: " + ", ".join(boxes) + ". " + " ".join(clues) + " Which box?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
