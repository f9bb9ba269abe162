import random


class OneWire:
    """One of five wires makes the light go on; each may be tested, one answer counts."""

    def __init__(self, max_turns=6):
        self.max_turns = max_turns

    def reset(self, seed=None):
        dice = random.Random(seed)
        self.wires = dice.sample(["amber", "brown", "coral", "ivory", "olive", "pink"], 5)
        self.live = dice.choice(self.wires)
        self.used = 0
        return f"Wires: {', '.join(self.wires)}. One of them feeds the light. Say touch WIRE to test one, or cut WIRE to cut the one that feeds it.", {}

    def step(self, action):
        self.used += 1
        words = str(action).strip().lower().split()
        late = self.used >= self.max_turns
        if len(words) == 2 and words[1] in self.wires:
            if words[0] == "cut":
                won = words[1] == self.live
                return ("Dark." if won else "Still bright."), (1.0 if won else 0.0), True, False, {}
            if words[0] == "touch":
                return ("The light flickers." if words[1] == self.live else "Nothing happens."), 0.0, False, late, {}
        return "Say touch WIRE or cut WIRE.", 0.0, False, late, {}

    def solution(self):
        return [f"cut {self.live}"]
