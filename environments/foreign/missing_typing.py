import random

@dataclass
class Item:
    name: str
    tags: List[str] = field(default_factory=list)

class Typed:
    def reset(self, seed: Optional[int] = None) -> Tuple[str, Dict[str, Any]]:
        self.item: Item = Item("box", ["a"] * random.Random(seed).randint(2, 40))
        return f"A {self.item.name} has {len(self.item.tags)} tags. One is torn off. How many are left?", {}
    def step(self, action: str) -> Tuple[str, float, bool, bool, Dict[str, Any]]:
        return "end", float(action.strip() == str(len(self.item.tags) - 1)), True, False, {}
    def solution(self) -> List[str]: return [str(len(self.item.tags) - 1)]
