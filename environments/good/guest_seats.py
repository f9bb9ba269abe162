import itertools
import random


class GuestSeats:
    """Seat five guests by clues that leave one order; clues are drawn until they do."""

    NAMES = ["Ada", "Bram", "Cleo", "Dov", "Edda"]

    def _clues(self, rng, order):
        place = {name: i for i, name in enumerate(order)}
        for a, b in rng.sample(list(itertools.permutations(self.NAMES, 2)), 20):
            gap = place[b] - place[a]
            if gap == 1:
                yield f"{a} sits directly left of {b}", (lambda p, a=a, b=b: p[b] - p[a] == 1)
            elif gap > 1:
                yield f"{a} sits somewhere left of {b}", (lambda p, a=a, b=b: p[b] > p[a])
            elif abs(gap) > 1:
                yield f"{a} and {b} are not neighbours", (lambda p, a=a, b=b: abs(p[a] - p[b]) > 1)

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.order = rng.sample(self.NAMES, 5)
        left = [dict(zip(order, range(5))) for order in itertools.permutations(self.NAMES)]
        used = []
        for text, holds in self._clues(rng, self.order):
            kept = [p for p in left if holds(p)]
            if len(kept) < len(left):
                used.append(text)
                left = kept
            if len(left) == 1:
                break
        lines = "\n".join(f"- {text}." for text in used)
        return f"Five guests sit in a row at the wedding table: {', '.join(self.NAMES)}.\n{lines}\nList the guests from left to right, separated by spaces, in \\boxed{{}}.", {}

    def step(self, action):
        words = action.replace(",", " ").lower().split()
        won = words == [name.lower() for name in self.order]
        return ("Every guest is content." if won else "Somebody sits wrong."), 1.0 if won else 0.0, True, False, {}

    def solution(self):
        return [" ".join(self.order)]
