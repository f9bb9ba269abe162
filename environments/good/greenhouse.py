import random


class GreenhouseEnv:
    """Find, by experiments, which switch causes which effect in a hidden wiring; then produce a wished state."""

    SWITCHES = ("brass", "copper", "iron", "steel")
    DEVICES = ("fan", "heater", "mist", "shade")

    def __init__(self, max_turns=18, **kwargs):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        wiring = list(self.DEVICES)
        rng.shuffle(wiring)
        self.wiring = {switch: {device} for switch, device in zip(self.SWITCHES, wiring)}
        first, second = rng.sample(self.SWITCHES, 2)
        self.wiring[first] |= self.wiring[second]
        self.on = set()
        while True:
            pressed = [switch for switch in self.SWITCHES if rng.random() < 0.5]
            goal = set()
            for switch in pressed:
                goal ^= self.wiring[switch]
            if len(pressed) >= 2 and len(goal) >= 2:
                break
        self.goal, self.plan, self.turn = goal, pressed, 0
        return (
            f"A greenhouse has the switches {', '.join(self.SWITCHES)} and the devices {', '.join(self.DEVICES)}, all off. Each switch toggles one or two devices; "
            f"nobody knows which. Press one switch per turn until exactly these devices run: {', '.join(sorted(goal))}. Then say 'finished'."
        ), {}

    def step(self, action):
        self.turn += 1
        over = self.turn >= self.max_turns
        word = action.strip().lower().removeprefix("press ").strip()
        if word == "finished":
            done = self.on == self.goal
            return ("The plants thrive." if done else "The plants wither."), 1.0 if done else 0.0, True, False, {}
        if word not in self.wiring:
            return "There is no such switch.", 0.0, False, over, {}
        self.on ^= self.wiring[word]
        return "Running: " + (", ".join(sorted(self.on)) or "nothing") + ".", 0.0, False, over, {}

    def solution(self):
        return self.plan + ["finished"]
