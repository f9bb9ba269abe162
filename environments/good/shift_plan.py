import itertools
import random


class ShiftPlan:
    """Assignment problem: who works which shift so that the total cost is least."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        nurses = rng.sample(["Noor", "Olga", "Piet", "Quinn", "Rosa", "Sven"], 4)
        shifts = ["dawn", "noon", "dusk", "night"]
        while True:
            cost = [[rng.randint(4, 30) for _ in shifts] for _ in nurses]
            totals = sorted((sum(cost[i][s] for i, s in enumerate(order)), order) for order in itertools.permutations(range(4)))
            if totals[0][0] < totals[1][0]:
                break
        self.plan = [shifts[s] for s in totals[0][1]]
        table = "\n".join(f"{name}: " + ", ".join(f"{shift} {price}" for shift, price in zip(shifts, row)) for name, row in zip(nurses, cost))
        return f"A ward of the hospital needs one nurse for each shift. Overtime pay per nurse and shift:\n{table}\nGive the shifts of {', '.join(nurses)}, in this order, so that the total pay is least, in \\boxed{{}}.", {}

    def step(self, action):
        given = [word.strip(" .").lower() for word in action.split(",")]
        if sorted(given) != sorted(self.plan):
            return "Each shift must be named once.", 0.0, True, False, {}
        return "The plan is pinned up.", float(given == self.plan), True, False, {}

    def solution(self):
        return [", ".join(self.plan)]

    def hint(self):
        return "Compare the differences within each row: a nurse with one cheap shift should keep it unless another needs it more."
