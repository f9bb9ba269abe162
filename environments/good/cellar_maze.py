import random
from collections import deque

MOVES = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}


class CellarMaze:
    """A hidden maze: the text tells only the open ways of the present room."""

    WIDTH = HEIGHT = 4

    def __init__(self, max_turns=24):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.doors = {(x, y): set() for x in range(self.WIDTH) for y in range(self.HEIGHT)}
        stack, seen = [(0, 0)], {(0, 0)}
        while stack:
            here = stack[-1]
            options = [(name, to) for name, to in self._around(here) if to not in seen]
            if not options:
                stack.pop()
                continue
            name, to = rng.choice(options)
            self.doors[here].add(name)
            self.doors[to].add({"north": "south", "south": "north", "east": "west", "west": "east"}[name])
            seen.add(to)
            stack.append(to)
        self.room = (0, 0)
        far = [cell for cell in self.doors if len(self._path((0, 0), cell)) >= 5]
        self.cask = rng.choice(sorted(far))
        self.turn = 0
        return f"A cellar has {self.WIDTH} by {self.HEIGHT} rooms; the cask of cider stands in column {self.cask[0] + 1}, row {self.cask[1] + 1}. You are in column 1, row 1. {self._view()}", {}

    def _around(self, cell):
        for name, (dx, dy) in MOVES.items():
            to = (cell[0] + dx, cell[1] + dy)
            if to in self.doors:
                yield name, to

    def _path(self, start, goal):
        before = {start: None}
        queue = deque([start])
        while queue:
            cell = queue.popleft()
            for name, to in self._around(cell):
                if name in self.doors[cell] and to not in before:
                    before[to] = (cell, name)
                    queue.append(to)
        names = []
        while before[goal] is not None:
            goal, name = before[goal]
            names.append(name)
        return names[::-1]

    def _view(self):
        return f"Doors lead {', '.join(sorted(self.doors[self.room]))}. Which way?"

    def step(self, action):
        self.turn += 1
        over = self.turn >= self.max_turns
        way = action.strip().lower().removeprefix("go ").strip()
        if way not in self.doors[self.room]:
            return f"There is a wall. {self._view()}", 0.0, False, over, {}
        dx, dy = MOVES[way]
        self.room = (self.room[0] + dx, self.room[1] + dy)
        if self.room == self.cask:
            return "Here is the cask.", 1.0, True, False, {}
        return f"You are in column {self.room[0] + 1}, row {self.room[1] + 1}. {self._view()}", 0.0, False, over, {}

    def solution(self):
        return self._path((0, 0), self.cask)
