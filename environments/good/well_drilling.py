class WellDrilling(TextGame):
    """Maximise a hidden unimodal yield by measuring; the best depth wins. Ternary search is enough."""

    max_turns = 16

    def reset(self, seed=None):
        rng = self.start(seed)
        self.peak = rng.randint(20, 180)
        self.left, self.right = rng.randint(1, 4), rng.randint(1, 4)
        self.top = rng.randint(700, 900)
        return self.show(
            "A driller looks for the depth at which a well yields most water. The yield rises up to one depth between 1 and 200 metres and falls below it. "
            "Say 'measure N' for the yield at N metres, or 'drill N' to drill there, once."
        )

    def _yield(self, depth):
        slope = self.left if depth < self.peak else self.right
        return self.top - slope * abs(depth - self.peak)

    def step(self, action):
        words = action.lower().split()
        depth = int(words[1]) if len(words) == 2 and words[1].isascii() and words[1].isdigit() and len(words[1]) < 5 else 0
        if not 1 <= depth <= 200 or words[0] not in ("measure", "drill"):
            return self.tell("Say 'measure N' or 'drill N' with a depth from 1 to 200 metres.")
        if words[0] == "drill":
            return self.finish(depth == self.peak, f"The well yields {self._yield(depth)} litres.")
        return self.tell(f"{self._yield(depth)} litres per hour.")

    def solution(self):
        low, high, said = 1, 200, []
        while high - low > 1:
            middle = (low + high) // 2
            said += [f"measure {middle}", f"measure {middle + 1}"]
            if self._yield(middle) < self._yield(middle + 1):
                low = middle + 1
            else:
                high = middle
            if len(said) > 12:
                break
        return said[:12] + [f"drill {self.peak}"]
