import random


class BeadPattern:
    """Extrapolate a row of beads that repeats while one colour grows by a bead per round."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        colours = rng.sample(["amber", "jade", "coral", "pearl", "onyx"], 3)
        grow = rng.randrange(3)
        start = rng.randint(1, 2)
        row = []
        for lap in range(12):
            for i, colour in enumerate(colours):
                row += [colour] * (start + lap if i == grow else 1)
        shown = " ".join(row[: rng.randint(16, 22)])
        place = rng.randint(40, 75)
        self.answer = [row[place - 1], str(row[:place].count(colours[grow]))]
        return (
            f"A jeweller threads beads after a fixed plan: {shown} and so on. Which colour is bead number {place}, and how many of the first {place} beads "
            f"are {colours[grow]}? Write the colour and the number in \\boxed{{}}."
        ), {}

    def step(self, action):
        won = same(action.replace(",", " ").split(), self.answer)
        return "The jeweller threads on.", 1.0 if won else 0.0, True, False, {}

    def solution(self):
        return [" ".join(self.answer)]

    def hint(self):
        return "Split the row into rounds; in each round exactly one colour has one bead more than in the round before."
