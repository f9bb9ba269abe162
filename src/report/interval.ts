import { Rng } from "../core/seed.ts";

/** A number with its 95 % interval and the number of independent units behind it. */
export interface Estimate {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  readonly n: number;
}

/** Two-sided 97.5 % quantile of Student's t; exact to three digits for the tabled degrees of freedom, 1.96 in the limit. */
function tQuantile(degreesOfFreedom: number): number {
  const table = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
  const tabled = table[degreesOfFreedom - 1];
  return tabled ?? 1.96 + 2.37 / degreesOfFreedom + 2.8 / degreesOfFreedom ** 2;
}

/** Mean of independent values with a t interval. Absent when empty; the interval of one value is infinite. */
export function meanEstimate(values: readonly number[]): Estimate | undefined {
  const n = values.length;
  if (n === 0) return undefined;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  if (n === 1) return { mean, low: -Infinity, high: Infinity, n };
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
  const half = tQuantile(n - 1) * Math.sqrt(variance / n);
  return { mean, low: mean - half, high: mean + half, n };
}

/**
 * Mean over units with a two-level bootstrap interval: units (programs, runs) are resampled, then the values within
 * each. Seeded, so that the same rows give the same interval. Absent when there is no value.
 */
export function nestedBootstrap(unitsUV: readonly (readonly number[])[], seed: number, resamples = 1000): Estimate | undefined {
  const units = unitsUV.filter((values) => values.length > 0);
  if (units.length === 0) return undefined;
  const rng = new Rng(seed);
  const average = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const means = Array.from({ length: resamples }, () =>
    average(units.map(() => rng.pick(units)).map((values) => average(values.map(() => rng.pick(values))))),
  ).sort((a, b) => a - b);
  const at = (q: number): number => means[Math.min(resamples - 1, Math.floor(q * resamples))] ?? NaN;
  return { mean: average(units.map(average)), low: at(0.025), high: at(0.975), n: units.length };
}
