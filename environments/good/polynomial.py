import random


def expand(roots):
    coefficients = [1]
    for root in roots:
        shifted = coefficients + [0]
        for i, c in enumerate(coefficients):
            shifted[i + 1] -= root * c
        coefficients = shifted
    return coefficients


def spelled(coefficients):
    degree, parts = len(coefficients) - 1, []
    for power, c in zip(range(degree, -1, -1), coefficients):
        if c == 0:
            continue
        body = {0: "", 1: "x"}.get(power, f"x^{power}")
        size = "" if abs(c) == 1 and power else str(abs(c))
        parts.append(("-" if c < 0 else "+") + size + body)
    return "".join(parts).removeprefix("+")


class FactorEnv:
    """Factor a polynomial with whole roots; checked by algebraic equality and by form."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.roots = sorted(rng.sample([r for r in range(-9, 10) if r], 3))
        self.text = spelled(expand(self.roots))
        return (
            f"A gardener's growth curve is the polynomial {self.text}. Write the polynomial as a product of three factors "
            "of the form (x+a) or (x-a), in \\boxed{}."
        ), {}

    def step(self, action):
        compact = action.replace(" ", "").replace("\\left", "").replace("\\right", "")
        is_product = compact.count("(") == 3 and compact.startswith("(") and compact.endswith(")") and "^" not in compact
        if not is_product:
            return "A product of three factors was asked for.", 0.0, True, False, {}
        won = verify(parse(self.text), parse(compact))
        return ("The curve fits." if won else "The product is another curve."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return "".join(f"(x{-root:+d})" for root in self.roots)
