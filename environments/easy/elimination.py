class FairFriendsRemains(TextGame):
    def reset(self, seed=None):
        r = self.start(seed)
        things = r.sample(["fair", "friends", "waiter", "soup", "total", "meal"], 6)
        self.keep = r.choice(things)
        gone = [w for w in things if w != self.keep]
        self.goal = self.keep
        return self.show(f"The candidates are {', '.join(things)}. Checked and found innocent: {', '.join(gone)}. Name the one that remains.")
    def step(self, action):
        return self.judge(action, self.goal)
    def solution(self):
        return [self.goal]
