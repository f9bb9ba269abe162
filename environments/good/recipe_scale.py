from fractions import Fraction
import random


class RecipeScaleEnv:
    """Scale a recipe; the answer is a fraction, any equal spelling counts."""

    def __init__(self, max_turns=1):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.cups = Fraction(rng.randint(1, 7), rng.choice([2, 3, 4]))
        serves = rng.choice([4, 5, 6, 9])
        guests = rng.choice([n for n in range(7, 30) if n % serves])
        item = rng.choice(["flour", "milk", "oats", "sugar"])
        self.amount = self.cups * guests / serves
        text = f"A recipe for {serves} people takes {self.cups} cups of {item}. The cook expects {guests} people. "
        return text + "How many cups does the cook measure? Give an exact fraction in \\boxed{}.", {"skill": "arithmetic"}

    def step(self, action):
        given = parse(action)
        if not given:
            return "No amount was found.", 0, True, False, {}
        won = verify([self.amount], given)
        return ("The dough is right." if won else "The dough is spoilt."), int(won), True, False, {}

    def solution(self):
        return [f"\\frac{{{self.amount.numerator}}}{{{self.amount.denominator}}}"]

    def hint(self):
        return "Divide the cups by the people the recipe serves, then multiply by the guests; keep the fraction exact."
