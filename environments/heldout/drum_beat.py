import random


class DrumBeat:
    """A cycle of three."""

    def reset(self, seed=None):
        dice = random.Random(seed)
        beat = dice.sample(["boom", "tick", "clap", "ring", "hum", "snap"], 3)
        length = dice.randint(5, 8)
        shown = [beat[i % 3] for i in range(length)]
        self.key = beat[length % 3]
        return f"The drummer plays {' '.join(shown)}. Which sound is played after that?", {}

    def step(self, action):
        won = str(action).strip().lower() == str(self.key).lower()
        return ("Yes." if won else "No."), (1.0 if won else 0.0), True, False, {}

    def solution(self):
        return [str(self.key)]
