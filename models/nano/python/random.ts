const size = 624;
const period = 397;

/** CPython's `random.Random(seed)` for the calls the demonstration programs make: equal seeds draw equal values. */
export class PythonRandom {
  private readonly state = new Uint32Array(size);
  private index = size;

  /** @param seed a non-negative integer below 2^53. */
  constructor(seed: number) {
    const key = seed > 0xffffffff ? [seed >>> 0, Math.floor(seed / 4294967296)] : [seed >>> 0];
    this.seedByArray(key);
  }

  private seedByArray(key: readonly number[]): void {
    const mt = this.state;
    mt[0] = 19650218;
    for (let i = 1; i < size; i++) mt[i] = Math.imul(1812433253, at(mt, i - 1) ^ (at(mt, i - 1) >>> 30)) + i;
    let i = 1;
    let j = 0;
    for (let k = Math.max(size, key.length); k > 0; k--) {
      mt[i] = (at(mt, i) ^ Math.imul(at(mt, i - 1) ^ (at(mt, i - 1) >>> 30), 1664525)) + (key[j] ?? 0) + j;
      if (++i >= size) [mt[0], i] = [at(mt, size - 1), 1];
      if (++j >= key.length) j = 0;
    }
    for (let k = size - 1; k > 0; k--) {
      mt[i] = (at(mt, i) ^ Math.imul(at(mt, i - 1) ^ (at(mt, i - 1) >>> 30), 1566083941)) - i;
      if (++i >= size) [mt[0], i] = [at(mt, size - 1), 1];
    }
    mt[0] = 0x80000000;
  }

  private twist(): void {
    const mt = this.state;
    for (let k = 0; k < size; k++) {
      const y = (at(mt, k) & 0x80000000) | (at(mt, (k + 1) % size) & 0x7fffffff);
      mt[k] = at(mt, (k + period) % size) ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
    }
    this.index = 0;
  }

  private uint32(): number {
    if (this.index >= size) this.twist();
    let y = at(this.state, this.index++);
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }

  /** A uniform integer in [0, n), n at most 2^31. */
  below(n: number): number {
    const bits = 32 - Math.clz32(n);
    let r = this.uint32() >>> (32 - bits);
    while (r >= n) r = this.uint32() >>> (32 - bits);
    return r;
  }

  randint(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  choice<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  /** Shuffles in place. */
  shuffle(items: unknown[]): void {
    for (let i = items.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [items[i], items[j]] = [items[j], items[i]];
    }
  }

  sample<T>(items: readonly T[], count: number): T[] {
    const n = items.length;
    const limit = 21 + (count > 5 ? 4 ** Math.ceil(Math.log(count * 3) / Math.log(4)) : 0);
    if (n > limit) return this.sampleSparse(items, count);
    const pool = [...items];
    return Array.from({ length: count }, (_, i) => {
      const j = this.below(n - i);
      const item = pool[j] as T;
      pool[j] = pool[n - i - 1] as T;
      return item;
    });
  }

  private sampleSparse<T>(items: readonly T[], count: number): T[] {
    const taken = new Set<number>();
    return Array.from({ length: count }, () => {
      let j = this.below(items.length);
      while (taken.has(j)) j = this.below(items.length);
      taken.add(j);
      return items[j] as T;
    });
  }
}

function at(array: Uint32Array, index: number): number {
  return array[index] ?? 0;
}
