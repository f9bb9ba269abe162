import random


class LiftRide:
    """Three moves along one axis."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        floor = dice.randint(3, 6)
        first, second, third = (dice.randint(1, 3) for _ in range(3))
        self.key = floor + first - second + third
        return f"A lift is on floor {floor}. It rides up {first}, down {second} and up {third}. On which floor does it stop?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
