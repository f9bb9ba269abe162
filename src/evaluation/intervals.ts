import { Rng } from "../core/seed.ts";
import { mean } from "../credit/statistics.ts";

/** Lower and upper end of a 95 % interval. */
export type Interval = readonly [number, number];

const z95 = 1.959963984540054;
const resamples = 2000;

/** Wilson score interval of a proportion. @param n at least 1. */
export function wilson(wins: number, n: number): Interval {
  const p = wins / n;
  const z2 = z95 * z95;
  const centre = (p + z2 / (2 * n)) / (1 + z2 / n);
  const half = (z95 / (1 + z2 / n)) * Math.sqrt((p * (1 - p)) / n + z2 / (4 * n * n));
  return [Math.max(0, centre - half), Math.min(1, centre + half)];
}

/** Mean over programs of the mean over their values. Shape of `values`: [programs][seeds]; no program is empty. */
export function meanOfMeans(values: readonly (readonly number[])[]): number {
  return mean(values.map(mean));
}

/**
 * Percentile bootstrap of `meanOfMeans`, resampling programs and, within each, seeds. Seeded.
 * Shape of `values`: [programs][seeds]; neither is empty.
 */
export function bootstrap(values: readonly (readonly number[])[], seed: number): Interval {
  const rng = new Rng(seed);
  const means = Array.from({ length: resamples }, () => {
    let total = 0;
    for (let i = 0; i < values.length; i++) {
      const program = rng.pick(values);
      let sum = 0;
      for (let j = 0; j < program.length; j++) sum += rng.pick(program);
      total += sum / program.length;
    }
    return total / values.length;
  }).sort((a, b) => a - b);
  return [means[Math.floor(0.025 * resamples)] ?? 0, means[Math.ceil(0.975 * resamples) - 1] ?? 0];
}
