class ChannelsReadings(TextGame):
    max_turns = 1
    def reset(self, seed=None):
        r = self.start(seed)
        x = r.sample(range(2, 10), 2)
        self.want = sum(x)
        text = ["Between car and fuel there is a task.", f"Counts at the channels: {', '.join(str(n) for n in x)}.", "Add them up.", "Give one number."]
        return self.show(" ".join(text))
    def step(self, action):
        return self.judge(action, self.want)
    def solution(self):
        return [self.want]
