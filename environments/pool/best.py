class ShopBest(TextGame):
    difficulty = 1

    def reset(self, seed=None):
        r = self.start(seed)
        names = r.sample(["nails", "rope", "paint", "glass", "cloth", "wire", "tiles", "sand"], min(self.difficulty + 2, 8))
        prices = r.sample(range(2, 10 + 5 * self.difficulty), len(names))
        amounts = [r.randint(2, 4) for _ in names]
        worth = [price * amount for price, amount in zip(prices, amounts)]
        self.best = max(worth)
        offers = [f"{amount} {name} at {price} each" for name, price, amount in zip(names, prices, amounts)]
        return self.show(f"A shop sells {', '.join(offers)}. Only one lot can be sold. What does the best lot earn?")

    def step(self, action):
        return self.judge(action, self.best)

    def solution(self):
        return [self.best]
