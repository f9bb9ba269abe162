import { allReturns, meanReturn } from "./returns.ts";
import type { EnvironmentReturns } from "./returns.ts";
import { mean, standardErrorOfMean, studentQuantile } from "./statistics.ts";

export interface RegretOptions {
  /** Fewest completed episodes on paired seeds in each arm; below it regret is absent. */
  readonly minEpisodesPerArm: number;
  /** Two-sided confidence of the interval, in (0, 1). */
  readonly confidence: number;
}

/** Paired regret of one environment: statistics of the per-seed differences of mean returns, hint minus plain. */
export interface RegretEstimate {
  readonly mean: number;
  readonly standardError: number;
  /** Student interval of the mean, [low, high]. */
  readonly interval: readonly [number, number];
  /** Seeds completed in both arms. */
  readonly pairs: number;
}

/**
 * Paired regret over the seeds completed in both arms (algorithm, section 6.1). Absent, never 0, with fewer than two paired seeds or
 * fewer than `minEpisodesPerArm` completed episodes on them in either arm.
 */
export function pairedRegret(returns: EnvironmentReturns, options: RegretOptions): RegretEstimate | undefined {
  const hintBySeed = new Map(returns.hint.seeds.map((seed) => [seed.seed, seed.returns]));
  const pairs = returns.plain.seeds.flatMap(({ seed, returns: plain }) => {
    const hint = hintBySeed.get(seed);
    return hint === undefined ? [] : [{ plain, hint }];
  });
  const plainEpisodes = pairs.reduce((sum, pair) => sum + pair.plain.length, 0);
  const hintEpisodes = pairs.reduce((sum, pair) => sum + pair.hint.length, 0);
  if (pairs.length < 2 || Math.min(plainEpisodes, hintEpisodes) < options.minEpisodesPerArm) return undefined;
  const differences = pairs.map((pair) => mean(pair.hint) - mean(pair.plain));
  const centre = mean(differences);
  const standardError = standardErrorOfMean(differences);
  const halfWidth = standardError * studentQuantile(options.confidence, differences.length - 1);
  return { mean: centre, standardError, interval: [centre - halfWidth, centre + halfWidth], pairs: differences.length };
}

/**
 * Regret as the paper pays it: max(0, mean hint return - mean plain return), unpaired and floored, so that it pays noise.
 * Absent below `minEpisodesPerArm` completed episodes in either arm.
 */
export function flooredRegret(returns: EnvironmentReturns, minEpisodesPerArm: number): number | undefined {
  const plain = meanReturn(returns.plain);
  const hint = meanReturn(returns.hint);
  if (plain === undefined || hint === undefined) return undefined;
  if (Math.min(allReturns(returns.plain).length, allReturns(returns.hint).length) < minEpisodesPerArm) return undefined;
  return Math.max(0, hint - plain);
}
