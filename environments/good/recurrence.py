import random


class SequenceEnv:
    """Second-order recurrences with small coefficients; the term after next is asked for."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        p, q = rng.choice([(1, 1), (2, 1), (1, 2), (2, -1), (3, -2), (1, 3)])
        shift = rng.randint(-3, 5)
        terms = [rng.randint(1, 6), rng.randint(3, 9)]
        while len(terms) < 8:
            terms.append(p * terms[-1] + q * terms[-2] + shift)
        self.terms = terms
        shown = ", ".join(map(str, terms[:6]))
        return (
            f"A biologist counts the leaves of a fern each week: {shown}. Every count after the second is made from the two counts before it by the same rule: "
            "a multiple of the last count, a multiple of the count before it, and a constant are added. What is the count two weeks after the last one shown? "
            "Write the integer in \\boxed{}."
        ), {}

    def step(self, action):
        text = action.replace(",", "").replace("$", "").strip()
        return "The fern grows.", float(same(text, self.terms[7])), True, False, {}

    def solution(self):
        return [self.terms[7]]

    def hint(self):
        return "Three equations of neighbouring counts fix the two multiples and the constant; small whole numbers are enough."
