/** A deterministic random source (xoshiro128**), seeded by one integer. */
export class Random {
  private readonly state: Uint32Array;

  constructor(seed: number) {
    const whole = Number.isFinite(seed) ? Math.trunc(Math.abs(seed)) : 0;
    let mixed = (whole >>> 0) ^ Math.imul(Math.floor(whole / 2 ** 32) >>> 0, 0x85ebca6b) ^ (seed < 0 ? 0x55555555 : 0);
    // Four words of splitmix32.
    this.state = Uint32Array.from({ length: 4 }, () => {
      mixed = (mixed + 0x9e3779b9) | 0;
      const a = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
      const b = Math.imul(a ^ (a >>> 15), 0x735a2d97);
      return b ^ (b >>> 15);
    });
  }

  /** A number in [0, 1) with 53 random bits. */
  random(): number {
    return ((this.word() >>> 5) * 67108864 + (this.word() >>> 6)) / 9007199254740992;
  }

  /** An integer in [low, high], both included. */
  int(low: number, high: number): number {
    return low + Math.floor(this.random() * (high - low + 1));
  }

  /** One of the items. @throws RangeError when there are none. */
  choice<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError("choice from an empty list");
    return items[this.int(0, items.length - 1)] as T;
  }

  /** Shuffles a list in place and returns it. */
  shuffle<T>(items: T[]): T[] {
    for (let i = items.length - 1; i > 0; i--) {
      const j = this.int(0, i);
      [items[i], items[j]] = [items[j] as T, items[i] as T];
    }
    return items;
  }

  /** `count` different items in random order. */
  sample<T>(items: readonly T[], count: number): T[] {
    if (count > items.length) throw new RangeError(`sample of ${count} from ${items.length} items`);
    return this.shuffle([...items]).slice(0, count);
  }

  private word(): number {
    const s = this.state;
    const [s0, s1, s2, s3] = s as unknown as [number, number, number, number];
    const scaled = Math.imul(s1, 5);
    const result = Math.imul((scaled << 7) | (scaled >>> 25), 9);
    s[2] = s2 ^ s0;
    s[3] = s3 ^ s1;
    s[1] = s1 ^ s2 ^ s0;
    s[0] = s0 ^ s3 ^ s1;
    s[2] ^= s1 << 9;
    const last = s3 ^ s1;
    s[3] = (last << 11) | (last >>> 21);
    return result;
  }
}
