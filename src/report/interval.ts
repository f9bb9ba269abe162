import { mean, standardErrorOfMean, studentQuantile } from "../credit/statistics.ts";

/** A number with its 95 % interval and the number of independent units behind it. */
export interface Estimate {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  readonly n: number;
}

/** Mean of independent values with a t interval. Absent when empty; the interval of one value is infinite. */
export function meanEstimate(values: readonly number[]): Estimate | undefined {
  const n = values.length;
  if (n === 0) return undefined;
  const centre = mean(values);
  if (n === 1) return { mean: centre, low: -Infinity, high: Infinity, n };
  const half = studentQuantile(0.95, n - 1) * standardErrorOfMean(values);
  return { mean: centre, low: centre - half, high: centre + half, n };
}
