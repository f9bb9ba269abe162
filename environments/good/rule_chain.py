class RuleChainEnv(TextGame):
    """Forward chaining: which facts follow from the rules? Interactive: derive one fact per turn, the goal last."""

    max_turns = 10

    def reset(self, seed=None):
        rng = self.start(seed)
        letters = rng.sample("ABCDEFGHJKLMNPQRSTUVWXYZ", 9)
        path, rest = letters[:5], letters[5:]
        rules = [(path[i], path[i + 1]) for i in range(4)]
        rules += [(a, rng.choice(rest)) for a in rest[:2]]
        rules += [(rest[2], path[rng.randint(1, 3)])]
        rng.shuffle(rules)
        self.rules, self.known, self.goal, self.path = set(rules), {path[0]}, path[4], path
        told = ". ".join(f"If {a} is lit then {b} may be switched on" for a, b in sorted(rules, key=lambda r: r[1] + r[0]))
        return self.show(f"A signal box has lamps named by letters. Lamp {path[0]} is lit. {told}. Switch on one lamp per turn; a wrong lamp trips the fuse. Light lamp {self.goal}.")

    def step(self, action):
        lamp = action.strip().upper().removeprefix("LAMP").strip()
        if len(lamp) != 1 or not lamp.isalpha():
            return self.tell("Name one lamp by its letter.")
        if lamp in self.known:
            return self.tell(f"Lamp {lamp} is lit already.")
        if not any((a, lamp) in self.rules for a in self.known):
            return self.finish(False, "The fuse trips.")
        self.known.add(lamp)
        return self.finish(True, "The signal is set.") if lamp == self.goal else self.tell(f"Lamp {lamp} is lit.")

    def solution(self):
        return self.path[1:]
