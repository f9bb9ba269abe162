import { Rng } from "../core/seed.ts";
import { mean } from "../credit/statistics.ts";

/** Lower and upper end of a 95 % interval. */
export type Interval = readonly [number, number];

const resamples = 2000;

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
