import random


class BusRiders:
    """Two steps on one counter."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        on_board = dice.randint(4, 9)
        enter = dice.randint(1, 8)
        leave = dice.randint(1, 4)
        self.key = on_board + enter - leave
        return f"A bus carries {on_board} riders. At the stop {enter} get on, then {leave} get off. How many riders are on the bus?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
