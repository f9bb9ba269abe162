"""Names a program has without importing them; executed anew for each instance, so that nothing is shared."""
from random import Random


class TextGame:
    """Base of text games: counts turns, makes the step tuples, keeps a private random source.

    A subclass defines `reset(seed)` (begin with `self.start(seed)`, end with `return self.show(text)`) and
    `step(action)` (return `self.tell(...)`, `self.judge(...)` or `self.finish(...)`).
    """

    max_turns = 1

    def __init__(self, max_turns=None, **kwargs):
        if max_turns is not None:
            self.max_turns = max_turns
        self.turn = 0

    def start(self, seed):
        """Begins an episode: zeroes the turn counter and returns a random source seeded with `seed`."""
        self.turn = 0
        self.rng = Random(seed)
        return self.rng

    def show(self, text):
        """What `reset` returns."""
        return text, {}

    def tell(self, text):
        """Counts a turn and goes on; truncates at `max_turns`."""
        self.turn += 1
        return text, 0.0, False, self.turn >= self.max_turns, {}

    def judge(self, action, answer, text=None):
        """Ends the episode: 1.0 if the action is the answer, else 0.0."""
        won = same(action, answer)
        return self.finish(won, ("Correct." if won else "Wrong.") if text is None else text)

    def finish(self, won, text=""):
        """Ends the episode with 1.0 or 0.0."""
        self.turn += 1
        return text, 1.0 if won else 0.0, True, False, {}
