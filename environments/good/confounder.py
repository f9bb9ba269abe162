import random


class ConfounderEnv:
    """Adjust for a confounder by stratification (back-door formula); exact fractions."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.effect = 0
        while self.effect == 0:
            strata = []
            for name in ("mild", "severe"):
                treated, untreated = rng.choice([20, 40, 60, 80]), rng.choice([20, 40, 60, 80])
                strata.append((name, treated, rng.randrange(2, treated, 2), untreated, rng.randrange(2, untreated, 2)))
            total = sum(t + u for _, t, _, u, _ in strata)
            self.effect = sum(Fraction(t + u, total) * (Fraction(a, t) - Fraction(b, u)) for _, t, a, u, b in strata)
        rows = " ".join(
            f"Of the {name} cases {t} took the syrup, {a} of them recovered; {u} took nothing, {b} of them recovered." for name, t, a, u, b in strata
        )
        return (
            f"A doctor studies a cough syrup. How severe a case is decides both who takes the syrup and who recovers; nothing else does. {rows} "
            "What is the average causal effect of the syrup on the share that recovers, with severity adjusted for? Give an exact fraction in \\boxed{}."
        ), {}

    def step(self, action):
        won = verify([self.effect], parse(action))
        return "The study is published.", float(won), True, False, {}

    def solution(self):
        sign = "-" if self.effect < 0 else ""
        return [f"{sign}\\frac{{{abs(self.effect.numerator)}}}{{{self.effect.denominator}}}"]
