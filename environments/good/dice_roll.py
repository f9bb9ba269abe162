import random


def roll(die, way):
    top, front, right = die
    return {
        "forward": (7 - front, top, right),
        "back": (front, 7 - top, right),
        "right": (7 - right, front, top),
        "left": (right, front, 7 - top),
    }[way]


class DiceRoll:
    """Roll a die over a board in the mind; opposite faces add up to seven."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        top = rng.randint(1, 6)
        front = rng.choice([n for n in range(1, 7) if n not in (top, 7 - top)])
        right = rng.choice([n for n in range(1, 7) if n not in (top, 7 - top, front, 7 - front)])
        rolls = [rng.choice(["forward", "back", "left", "right"]) for _ in range(rng.randint(4, 7))]
        die = (top, front, right)
        for way in rolls:
            die = roll(die, way)
        self.faces = die
        return (
            f"A wooden die lies on the carpenter's bench: {top} on top, {front} facing you, {right} on its right side. Opposite faces add up to seven. "
            f"The carpenter rolls it over its edges: {', then '.join(rolls)} (forward is away from you). "
            "Which three numbers are now on top, facing you and on the right? Answer like 1-2-3 in \\boxed{}."
        ), {}

    def step(self, action):
        digits = [c for c in action if c in "123456789"]
        if len(digits) != 3:
            return "Three faces are asked for.", 0.0, True, False, {}
        won = tuple(map(int, digits)) == self.faces
        return "The carpenter turns the die over.", 1.0 if won else 0.0, True, False, {}

    def solution(self):
        return ["-".join(map(str, self.faces))]
