import random

class Coin(Enum):
    PENNY = 1
    DIME = 10

class Purse:
    def reset(self, seed=None):
        self.coins = [random.Random(seed + i).choice(list(Coin)) for i in range(6)]
        kept = deepcopy(self.coins)
        self.total = Fraction(reduce(lambda a, b: a + b.value, kept, 0), 2)
        return "Coins: " + " ".join(coin.name for coin in self.coins) + ". Half of the sum?", {}
    def step(self, action):
        return "end", float(same(action, self.total)), True, False, {}
    def solution(self): return [str(float(self.total))]
