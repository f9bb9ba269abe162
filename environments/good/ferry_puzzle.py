import random
from typing import List


class FerryPuzzleEnv:
    """Order constraints with exclusions; solution() tells the reasoning as prose without a box."""

    CARS = ["truck", "coupe", "jeep", "sedan", "wagon"]

    def __init__(self, max_turns=3, **kwargs):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.order: List[str] = rng.sample(self.CARS, 5)
        self.turn = 0
        clues = []
        for i in range(4):
            clues.append(f"The {self.order[i + 1]} drives off the ferry right after the {self.order[i]}.")
        dropped = rng.randrange(1, 3)
        first = clues.pop(dropped)
        clues.append(f"The {self.order[0]} leaves earlier than the {self.order[dropped + 1]}." if first else "")
        rng.shuffle(clues)
        return "Five cars stand on a ferry. " + " ".join(clues) + " In which order do the cars leave? List the five cars with commas in \\boxed{}. You have three attempts.", {}

    def step(self, action):
        self.turn += 1
        given = [part.strip().lower().removeprefix("the ") for part in action.split(",")]
        if given == self.order:
            return "Correct, the deck is empty.", 1.0, True, False, {}
        right = sum(a == b for a, b in zip(given, self.order))
        return f"Not this order: {right} cars are in their place.", 0.0, False, self.turn >= self.max_turns, {}

    def solution(self):
        chain = " before ".join(self.order)
        return f"Chain the clues together: each pair of neighbours fixes a piece, and the remaining clue joins the pieces, which gives {chain}."
