class HiddenTest(TextGame):
    """Find the rule a machine uses by trying numbers, then predict it on a list; interactive."""

    max_turns = 12

    RULES = {
        "multiple": lambda n, k: n % k == 0,
        "ends": lambda n, k: n % 10 == k,
        "digits": lambda n, k: sum(map(int, str(n))) % 3 == k % 3,
        "above": lambda n, k: n % 100 > 10 * k,
    }

    def reset(self, seed=None):
        rng = self.start(seed)
        self.rule, self.k = rng.choice(sorted(self.RULES)), rng.randint(3, 8)
        while True:
            self.quiz = rng.sample(range(100, 1000), 6)
            self.verdict = [self._accepts(n) for n in self.quiz]
            if 2 <= sum(self.verdict) <= 4:
                break
        listed = " ".join(map(str, self.quiz))
        return self.show(
            "A sorting machine in the mint accepts coins by a secret rule over the number stamped on them. Say 'test N' to try a number. "
            f"When you know the rule, say 'answer' and one letter per coin, a for accepted or r for rejected, for the coins {listed}."
        )

    def _accepts(self, number):
        return bool(self.RULES[self.rule](number, self.k))

    def step(self, action):
        verb, _, rest = action.strip().lower().partition(" ")
        if verb == "answer":
            letters = [c for c in rest if c in "ar"]
            return self.finish(letters == self._letters(), "The mint closes.")
        if verb == "test" and rest.isascii() and rest.isdigit() and len(rest) <= 4:
            return self.tell("accepted" if self._accepts(int(rest)) else "rejected")
        return self.tell("Say 'test N' or 'answer' with letters.")

    def _letters(self):
        return ["a" if ok else "r" for ok in self.verdict]

    def solution(self):
        return ["answer " + "".join(self._letters())]
