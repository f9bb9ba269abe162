import random


class RideTickets:
    """Floor of a quotient."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        price = dice.randint(2, 4)
        rides = dice.randint(2, 5)
        money = price * rides + dice.randint(0, price - 1)
        self.key = rides
        return f"One ride costs {price} coins. You have {money} coins. How many rides can you take at most?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
