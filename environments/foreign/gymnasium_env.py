import gymnasium as gym
from gymnasium import spaces

class CliffEnv(gym.Env):
    metadata = {"render_modes": ["ansi"]}
    def __init__(self, max_turns=9):
        super().__init__()
        self.max_turns = max_turns
        self.action_space = spaces.Discrete(4)
        self.observation_space = spaces.Text(max_length=400)
    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.goal = int(self.np_random.integers(2, 9))
        self.at = 0
        return f"You stand {self.goal} steps from the edge. Action 1 is a step, action 0 stops. Stop one step before the edge.", {}
    def step(self, action):
        move = action.strip()
        if move == "0":
            return "stopped", float(self.at == self.goal - 1), True, False, {}
        self.at += move == "1"
        return f"at {self.at}", 0.0, self.at >= self.goal, False, {}
    def solution(self): return ["1"] * (self.goal - 1) + ["0"]
