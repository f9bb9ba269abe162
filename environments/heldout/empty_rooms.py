import random


class EmptyRooms:
    """Elimination among three."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        rooms = dice.sample(["attic", "cellar", "kitchen", "porch"], 3)
        left = dice.choice(rooms)
        out = [room for room in rooms if room != left]
        self.key = left
        return f"Rooms: {', '.join(rooms)}. Not {out[0]}, not {out[1]}. Which room?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
