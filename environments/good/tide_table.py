import random


class TideTable:
    """Interpolate a tide height by the rule of twelfths."""

    TWELFTHS = [0, 1, 3, 6, 9, 11, 12]

    def reset(self, seed=None):
        rng = random.Random(seed)
        low = rng.randint(2, 9)
        unit = rng.randint(2, 9)
        start = rng.randint(1, 11)
        hour = rng.randint(1, 5)
        self.height = low + unit * self.TWELFTHS[hour]
        high = low + 12 * unit
        return (
            f"At {start} o'clock the water in the harbour is lowest, {low} decimetres. Six hours later the tide is highest, {high} decimetres. "
            f"In the six hours the water rises by 1, 2, 3, 3, 2 and 1 twelfths of the difference. "
            f"How many decimetres deep is the water {hour} hours after the low tide? Answer in \\boxed{{}}."
        ), {}

    def step(self, action):
        try:
            won = int(action.strip()) == self.height
        except ValueError:
            return "A whole number of decimetres is expected.", 0.0, True, False, {}
        return f"The gauge reads {self.height}.", float(won), True, False, {}

    def solution(self):
        return [str(self.height)]
