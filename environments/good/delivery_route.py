import itertools
import random


class DeliveryRouteEnv:
    """Shortest round trip over five villages; any optimal order wins, one village per turn."""

    VILLAGES = ["Alder", "Birch", "Cedar", "Elm", "Fir"]

    def __init__(self, max_turns=9):
        self.max_turns = max_turns

    def _length(self, order):
        stops = ["Depot", *order, "Depot"]
        return sum(self.road[frozenset(pair)] for pair in zip(stops, stops[1:]))

    def reset(self, seed=None):
        rng = random.Random(seed)
        places = ["Depot", *self.VILLAGES]
        self.road = {frozenset(pair): rng.randint(10, 60) for pair in itertools.combinations(places, 2)}
        self.best = min(self._length(order) for order in itertools.permutations(self.VILLAGES))
        self.visited = []
        self.turn = 0
        roads = "\n".join(f"{a} - {b}: {self.road[frozenset((a, b))]} min" for a, b in itertools.combinations(places, 2))
        return f"A van leaves the depot, delivers parcels to each village once and returns. Minutes by road:\n{roads}\nName the next village each turn; the whole round must be as short as possible.", {}

    def step(self, action):
        self.turn += 1
        name = action.strip().title()
        if name not in self.VILLAGES or name in self.visited:
            return "The van waits: name a village without its parcel yet.", 0.0, False, self.turn >= self.max_turns, {}
        self.visited.append(name)
        if len(self.visited) < len(self.VILLAGES):
            return f"Parcel delivered in {name}.", 0.0, False, self.turn >= self.max_turns, {}
        length = self._length(self.visited)
        return f"The round took {length} minutes.", 1.0 if length == self.best else 0.0, True, False, {}

    def solution(self):
        return list(min(itertools.permutations(self.VILLAGES), key=self._length))
