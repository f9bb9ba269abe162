import gym
import gym.spaces
import random

class Old(gym.Env):
    action_space = gym.spaces.Dict({"word": gym.spaces.Discrete(3)})
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.k = random.Random(seed).randint(2, 60)
        return f"Twice {self.k}, less one?", {}
    def step(self, action):
        return "end", float(action.strip() == str(2 * self.k - 1)), True, False, {}
    def solution(self): return [str(2 * self.k - 1)]
