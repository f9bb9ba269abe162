interface Observed {
  observation: string;
  info?: object;
}

interface Stepped extends Observed {
  reward: number;
  terminated: boolean;
  truncated: boolean;
}

/** Mulberry32: a seeded source of numbers in [0, 1). */
function source(seed: number): () => number {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}

/** Two dripping vessels: when do they spill together again? A least common multiple with an offset. */
export default class WaterClock {
  private minute = 0;

  reset(seed: number): Observed {
    const next = source(seed);
    const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
    const first = between(6, 28);
    let second = between(6, 28);
    while (second === first) second = between(6, 28);
    const start = between(3, 59);
    this.minute = start + (first * second) / gcd(first, second);
    return {
      observation:
        `In a temple two bowls of a water clock spill at minute ${start}. The bronze bowl spills every ${first} minutes, the clay bowl every ${second} minutes. ` +
        "At which minute do both bowls spill together next? Answer in \\boxed{}.",
    };
  }

  step(action: string): Stepped {
    const won = /^\s*\d{1,9}\s*$/.test(action) && Number(action) === this.minute;
    return { observation: won ? "Both bowls spill." : "The bowls do not spill together then.", reward: won ? 1 : 0, terminated: true, truncated: false };
  }

  solution(): string[] {
    return [String(this.minute)];
  }
}
