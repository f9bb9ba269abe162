class ColourMapRepair(TextGame):
    max_turns = 4
    def reset(self, seed=None):
        r = self.start(seed)
        self.items = r.sample(["colour", "map", "border", "printer"], 4)
        self.broken = r.choice(self.items)
        return self.show(f"One of these is faulty: {', '.join(self.items)}. {r.randint(2, 30)} counties lay by the county. Reply check NAME to look at one, repair NAME to end. You have 4 turns.")
    def step(self, action):
        action = action.lower()
        words = action.split()
        if len(words) != 2 or words[1] not in self.items:
            return self.tell("Use check or repair and a name.")
        if words[0] == "repair":
            return self.judge(words[1], self.broken)
        if words[1] != self.broken:
            return self.tell(f"{words[1]}: fine.")
        return self.tell(f"{words[1]}: faulty.")
    def solution(self):
        moves = ["repair " + self.broken]
        return moves
