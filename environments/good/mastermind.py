import random
from collections import Counter

COLOURS = "red blue green white black".split()


class PegCode:
    """Mastermind with three pegs: the feedback narrows the code down."""

    def __init__(self, max_turns: int = 12, **_ignored):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.code = [rng.choice(COLOURS) for _ in range(3)]
        self.turn = 0
        return (
            "The museum's box opens to a code of three pegs. Each peg is red, blue, green, white or black; colours may repeat. "
            "Name three colours per turn. The box answers how many pegs are right in place and how many more are right in colour only."
        ), {}

    def _feedback(self, guess):
        exact = sum(a == b for a, b in zip(guess, self.code))
        shared = sum((Counter(guess) & Counter(self.code)).values())
        return exact, shared - exact

    def step(self, action):
        self.turn += 1
        over = self.turn >= self.max_turns
        guess = action.lower().replace(",", " ").split()
        if len(guess) != 3 or any(colour not in COLOURS for colour in guess):
            return "The box expects three colours.", 0.0, False, over, {}
        exact, misplaced = self._feedback(guess)
        if exact == 3:
            return "The box opens.", 1.0, True, False, {}
        return f"Turn {self.turn}: {exact} in place, {misplaced} misplaced.", 0.0, False, over, {}

    def solution(self):
        return [" ".join(self.code)]
