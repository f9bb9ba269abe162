class CoatSprayMachine(TextGame):
    max_turns = 3
    def reset(self, seed=None):
        r = self.start(seed)
        self.c = r.randint(2, 11)
        text = ["By the cape and the scissors is a game.", "The coat turns each number into another by a fixed rule.", "Predict the output for 20.", "Reply try 3 to test a number up to 9, or answer 8 to finish."]
        return self.show(" ".join(text))
    def step(self, action):
        action = action.strip()
        words = action.split()
        if len(words) == 2 and words[0] == "answer":
            return self.judge(words[1], 20 + self.c)
        if len(words) != 2 or words[0] != "try" or words[1] not in list("0123456789"):
            return self.tell("Use try 2 or answer 9.")
        n = int(words[1])
        return self.tell(f"Out comes {n + self.c}.")
    def solution(self):
        return [f"answer {20 + self.c}"]
