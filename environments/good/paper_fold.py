import random


class PaperFoldEnv:
    """Count the holes after folding and punching a sheet: positions are mirrored per fold."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.size = 8
        folds = [rng.choice("VH") for _ in range(2)]
        width = height = self.size
        described = []
        for fold in folds:
            if fold == "V":
                width //= 2
                described.append("right half over the left")
            else:
                height //= 2
                described.append("lower half over the upper")
        column, row = rng.randint(1, width), rng.randint(1, height)
        cells = {(column, row)}
        for fold in reversed(folds):
            if fold == "V":
                cells |= {(2 * width + 1 - x, y) for x, y in cells}
                width *= 2
            else:
                cells |= {(x, 2 * height + 1 - y) for x, y in cells}
                height *= 2
        self.answer = sum(self.size * (y - 1) + x for x, y in cells)
        return (
            f"A sheet of paper has {self.size} by {self.size} squares, numbered row by row from 1 (upper left) to {self.size ** 2}. "
            f"It is folded twice: first the {described[0]}, then the {described[1]}. A needle pierces all layers at column {column}, row {row}. "
            "Unfold the sheet. What is the sum of the numbers of all pierced squares? Answer in \\boxed{}."
        ), {}

    def step(self, action):
        won = same(action, self.answer)
        return "The sheet is unfolded.", 1.0 if won else 0.0, True, False, {}

    def solution(self):
        return [str(self.answer)]
