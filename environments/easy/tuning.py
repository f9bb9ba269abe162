class NotebookSetting(TextGame):
    max_turns = 4
    def reset(self, seed=None):
        r = self.start(seed)
        self.peak = r.randint(1, 14)
        text = f"One number from 1 to 14 suits the notebook of the oven. Its window is {r.choice([5, 10, 20])} sellers old. You will be told more or less. At most 4 turns."
        return self.show(text)
    def step(self, action):
        try:
            n = int(action)
        except ValueError:
            return self.tell("Reply with a number.")
        if n == self.peak:
            return self.finish(True, "That is it.")
        return self.tell("The notebook says more." if n < self.peak else "The notebook says less.")
    def solution(self):
        return [self.peak]
