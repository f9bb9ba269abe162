type Step = { observation: string; reward: number; terminated: boolean; truncated: boolean };

/** Pay an amount with as few coins as possible, coin by coin; greedy fails on most coin sets drawn here. */
export default class CoinChange {
  readonly maxTurns = 14;
  private coins: number[] = [];
  private owed = 0;
  private best: number[] = [];
  private paid = 0;

  private fewest(amount: number, coins: readonly number[]): number[] {
    const table: (number[] | undefined)[] = [[]];
    for (let sum = 1; sum <= amount; sum++) {
      for (const coin of coins) {
        const rest = sum >= coin ? table[sum - coin] : undefined;
        if (rest !== undefined && rest.length + 1 < (table[sum]?.length ?? Infinity)) table[sum] = [...rest, coin];
      }
    }
    return table[amount] ?? [];
  }

  private greedy(amount: number, coins: readonly number[]): number {
    let left = amount;
    let count = 0;
    for (const coin of [...coins].sort((a, b) => b - a)) {
      count += Math.floor(left / coin);
      left %= coin;
    }
    return count;
  }

  reset(seed: number) {
    let h = 2166136261 ^ seed;
    const draw = (low: number, high: number): number => {
      h = Math.imul(h ^ (h >>> 13), 1540483477) + 97;
      h ^= h >>> 15;
      return low + ((h >>> 0) % (high - low + 1));
    };
    do {
      const small = draw(3, 5);
      const middle = draw(small + 2, 11);
      const large = draw(middle + 2, 19);
      this.coins = [1, small, middle, large];
      this.owed = draw(24, 70);
      this.best = this.fewest(this.owed, this.coins);
    } while (this.greedy(this.owed, this.coins) === this.best.length || this.best.length > 9 || this.best.length < 3);
    this.paid = 0;
    const info = { coins: this.coins };
    return { observation: `A merchant of the island uses coins of ${this.coins.join(", ")} shells. Pay ${this.owed} shells with as few coins as possible: name one coin per turn.`, info };
  }

  step(action: string): Step {
    const coin = /^\s*\d{1,3}\s*$/.test(action) ? Number(action) : NaN;
    if (!this.coins.includes(coin)) return this.go("The merchant shakes the head: no such coin.");
    this.owed -= coin;
    this.paid++;
    if (this.owed < 0) return this.end("Too many shells were paid.", 0);
    if (this.owed > 0) return this.paid >= this.best.length ? this.end("That takes too many coins.", 0) : this.go(`${this.owed} shells are still owed.`);
    return this.end("Paid.", this.paid === this.best.length ? 1 : 0);
  }

  private go(observation: string): Step {
    return { observation, reward: 0, terminated: false, truncated: false };
  }

  private end(observation: string, reward: number): Step {
    return { observation, reward, terminated: true, truncated: false };
  }

  solution(): string[] {
    return this.best.map(String);
  }
}
