/** A share with its 95 % interval. */
export interface Share {
  readonly count: number;
  readonly n: number;
  /** Absent when there are no cases. */
  readonly rate?: number;
  readonly low?: number;
  readonly high?: number;
}

/** Two-sided 95 % quantile of the normal distribution. */
const z = 1.959964;

/** The Wilson score interval (Wilson 1927) of `count` among `n`. */
export function wilson(count: number, n: number): Share {
  if (n === 0) return { count, n };
  const rate = count / n;
  const scale = 1 + z ** 2 / n;
  const centre = (rate + z ** 2 / (2 * n)) / scale;
  const half = (z / scale) * Math.sqrt((rate * (1 - rate)) / n + z ** 2 / (4 * n ** 2));
  return { count, n, rate, low: count === 0 ? 0 : centre - half, high: count === n ? 1 : centre + half };
}
