class WingsLevers(TextGame):
    max_turns = 5
    def reset(self, seed=None):
        r = self.start(seed)
        items = ["disc", "voles", "night", "feathers"]
        self.power = dict(zip(items, r.sample(range(1, 10), 4)))
        self.cause = r.choice(items)
        return self.show(f"The wings obeys disc, voles, night, feathers. Which one adds {self.power[self.cause]}? Reply try X to see its effect, choose X to end.")
    def step(self, action):
        words = action.split()
        if len(words) != 2 or words[1] not in self.power:
            return self.tell("Use try or choose and a name.")
        if words[0] == "choose":
            return self.finish(words[1] == self.cause, "Done.")
        return self.tell(f"It rises by {self.power[words[1]]}.")
    def solution(self):
        return ["choose " + self.cause]
