"""A module docstring first."""
from __future__ import annotations
import random

class Matched:
    def reset(self, seed: int | None = None) -> tuple[str, dict]:
        self.k = random.Random(seed).randint(2, 60)
        return f"Is {self.k} even, and what is twenty-one times it? Say 'even N' or 'odd N'.", {}
    def step(self, action: str) -> tuple[str, float, bool, bool, dict]:
        match action.split():
            case [("even" | "odd") as parity, number]:
                won = parity == ("odd" if self.k % 2 else "even") and number == str(21 * self.k)
            case _:
                won = False
        return "end", float(won), True, False, {}
    def solution(self): return [f"{'odd' if self.k % 2 else 'even'} {21 * self.k}"]
