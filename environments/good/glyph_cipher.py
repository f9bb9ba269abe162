import random
import string


class GlyphCipher:
    """Known-plaintext attack on a keyed shift cipher."""

    WORDS = "lantern harbour compass anchor voyage captain horizon current island pilot canvas rudder".split()

    @staticmethod
    def _shift(word, key):
        alphabet = string.ascii_lowercase
        return "".join(alphabet[(alphabet.index(c) + key[i % len(key)]) % 26] for i, c in enumerate(word))

    def reset(self, seed=None):
        rng = random.Random(seed)
        key = [rng.randint(1, 25) for _ in range(2)]
        known, other, self.secret = rng.sample(self.WORDS, 3)
        lines = [f"{word} is written {self._shift(word, key)}" for word in (known, other)]
        return (
            f"In the captain's log {lines[0]} and {lines[1]}. The same key, as long as it takes, is used for every word of the log. "
            f"Which word is written {self._shift(self.secret, key)}? Answer in \\boxed{{}}."
        ), {}

    def step(self, action):
        won = action.strip().casefold() == self.secret
        return ("The log opens." if won else "The ink stays dark."), 1.0 if won else 0.0, True, False, {}

    def solution(self):
        return [self.secret]
