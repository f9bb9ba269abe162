class ValveCause(TextGame):
    difficulty = 1
    max_turns = 12

    def reset(self, seed=None):
        r = self.start(seed)
        self.valves = ["red", "blue", "green", "white", "black", "grey", "brown", "pink"][: min(self.difficulty + 2, 8)]
        self.power = dict(zip(self.valves, r.sample(range(1, 20), len(self.valves))))
        self.cause = r.choice(self.valves)
        return self.show(f"The valves are {', '.join(self.valves)}. Which one adds {self.power[self.cause]}? Reply try X to see its effect, choose X to end.")

    def step(self, action):
        words = action.split()
        if len(words) != 2 or words[1] not in self.power:
            return self.tell("Use try or choose and a name.")
        if words[0] == "choose":
            return self.finish(words[1] == self.cause, "Done.")
        return self.tell(f"It rises by {self.power[words[1]]}.")

    def solution(self):
        return ["choose " + self.cause]
