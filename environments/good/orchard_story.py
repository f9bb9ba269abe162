import random
import re
from typing import Any, Dict, Optional, Tuple


class OrchardStoryEnv:
    """Rates and totals in an orchard. The answer goes into \\boxed{}; solution() explains in words."""

    def __init__(self, max_turns: int = 1, **kwargs: Any) -> None:
        self.max_turns = max_turns
        self.answer: Optional[int] = None

    def reset(self, seed: Optional[int] = None) -> Tuple[str, Dict[str, Any]]:
        rng = random.Random(seed)
        self.trees = rng.randint(12, 40)
        self.first = rng.randint(3, 9)
        self.grow = rng.randint(2, 5)
        self.years = rng.randint(3, 6)
        self.answer = sum(self.trees * (self.first + self.grow * year) for year in range(self.years))
        observation = (
            f"An orchard has {self.trees} apple trees. In the first year every tree bears {self.first} baskets of apples; each later year every tree bears "
            f"{self.grow} baskets more than the year before. How many baskets does the orchard bear in {self.years} years together?\n"
            "Think step by step and put your final answer in \\boxed{}."
        )
        return observation, {"skill": "Mathematical Reasoning"}

    def step(self, action: str) -> Tuple[str, float, bool, bool, Dict[str, Any]]:
        match = re.search(r"\\boxed\{([^{}]*)\}", action)
        text = match.group(1) if match else action
        try:
            value = int(text.replace(",", "").strip())
        except ValueError:
            return "No whole number was found in the answer.", 0.0, True, False, {"error": "format"}
        correct = value == self.answer
        return ("Correct!" if correct else f"Incorrect. The orchard bears {self.answer} baskets."), float(correct), True, False, {}

    def solution(self) -> str:
        return (
            f"Every year all {self.trees} trees bear the same number of baskets. The yearly baskets of one tree form an arithmetic series from {self.first} with "
            f"difference {self.grow} over {self.years} years. Add the series up and multiply by the trees: the total is \\boxed{{{self.answer}}}."
        )
