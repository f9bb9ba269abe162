import random


class BudgetNoteEnv:
    """Two linear conditions; written the way a prompt's example would be, with a prose solution."""

    def __init__(self, max_turns=2, difficulty="medium", **kwargs):
        self.max_turns = max_turns
        self.difficulty = difficulty
        self.turns_used = 0

    def reset(self, seed=None):
        if seed is not None:
            self.rng = random.Random(seed)
        self.pens = self.rng.randint(3, 15)
        self.books = self.rng.randint(3, 15)
        while self.books == self.pens:
            self.books = self.rng.randint(3, 15)
        self.pen_price, self.book_price = self.rng.randint(2, 5), self.rng.randint(6, 11)
        self.turns_used = 0
        spent = self.pens * self.pen_price + self.books * self.book_price
        return (
            f"A school clerk bought pens at {self.pen_price} coins and notebooks at {self.book_price} coins, {self.pens + self.books} things in all, and spent {spent} coins. "
            "How many pens and how many notebooks were bought? Put 'pens,notebooks' in \\boxed{}."
        ), {"difficulty": self.difficulty}

    def step(self, action):
        self.turns_used += 1
        parts = action.replace(" ", "").split(",")
        if len(parts) == 2 and parts == [str(self.pens), str(self.books)]:
            return "The clerk's sum agrees.", 1.0, True, False, {}
        truncated = self.turns_used >= self.max_turns
        return "The sum does not agree with the note.", 0.0, False, truncated, {}

    def solution(self):
        return f"Let p and n be the numbers. Solve p + n = {self.pens + self.books} with the spent coins; the result is {self.pens} pens and {self.books} notebooks."
