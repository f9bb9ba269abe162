class Weighing(TextGame):
    """Find a hidden weight with a balance and standard weights; interactive."""

    max_turns = 14

    def reset(self, seed=None):
        rng = self.start(seed)
        self.secret = rng.randint(3, 400)
        self.tries = 0
        return self.show(
            "A parcel of unknown weight, between 3 and 400 grams, lies on the left pan of the balance. "
            "Say 'put N' to lay N grams on the right pan, or 'name N' to name the weight. One wrong name ends the game."
        )

    def step(self, action):
        verb, _, number = action.strip().lower().partition(" ")
        if not (number.isascii() and number.isdigit()) or len(number) > 6:
            return self.tell("The balance does not move. Say 'put N' or 'name N' with a number of grams.")
        grams = int(number)
        if verb == "name":
            return self.finish(grams == self.secret, f"The parcel weighs {self.secret} grams.")
        if verb != "put":
            return self.tell("The balance knows only 'put' and 'name'.")
        self.tries += 1
        if grams == self.secret:
            return self.tell("The pans are level.")
        side = "left" if grams < self.secret else "right"
        return self.tell(f"After weighing number {self.tries} the {side} pan sinks.")

    def solution(self):
        low, high, actions = 3, 400, []
        while low < high:
            middle = (low + high) // 2
            actions.append(f"put {middle}")
            if middle == self.secret:
                low = high = middle
            elif middle < self.secret:
                low = middle + 1
            else:
                high = middle - 1
        return actions + [f"name {self.secret}"]
