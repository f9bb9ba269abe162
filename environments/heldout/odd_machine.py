import random


class OddMachine:
    """A machine adds a hidden number; it may be fed before the answer is given."""

    def __init__(self, max_turns=5):
        self.max_turns = max_turns

    def reset(self, seed=None):
        dice = random.Random(seed)
        self.plus = dice.randint(1, 9)
        self.target = dice.randint(2, 9)
        self.used = 0
        return f"A strange mill turns grain numbers into flour numbers. Say feed 1 to try it. At the end say output N with the flour for grain {self.target}.", {}

    def step(self, action):
        self.used += 1
        words = str(action).strip().lower().split()
        if len(words) == 2 and words[0] == "output":
            won = words[1] == str(self.target + self.plus)
            return ("Right." if won else "Not so."), (1.0 if won else 0.0), True, False, {}
        late = self.used >= self.max_turns
        if len(words) == 2 and words[0] == "feed" and words[1].isdecimal() and len(words[1]) < 3:
            if int(words[1]) == self.target:
                return "That number may not be fed.", 0.0, False, late, {}
            return f"{words[1]} becomes {int(words[1]) + self.plus}.", 0.0, False, late, {}
        return "Say feed 1 or output N.", 0.0, False, late, {}

    def solution(self):
        return [f"output {self.target + self.plus}"]
