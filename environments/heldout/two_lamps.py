import random


class TwoLamps:
    """Two independent conditions."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        door = dice.choice(["open", "shut"])
        time = dice.choice(["night", "day"])
        p, q, r, s = dice.sample(range(1, 10), 4)
        self.key = 10 * (p if door == 'open' else q) + (r if time == 'night' else s)
        return f"If the door is open the code starts with {p}, if shut with {q}. By night the code ends with {r}, by day with {s}. The door is {door} and it is {time}. Give the two digit code.", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
