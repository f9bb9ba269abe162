import type { Episode } from "../core/episode.ts";
import { episodeReturn, isWin } from "../core/episode.ts";
import { invariant } from "../core/errors.ts";
import { clip, mean, squaredDeviations } from "./statistics.ts";

/** What credit needs to know of an episode. */
export type PlayedEpisode = Pick<Episode, "arm" | "seed" | "play" | "outcome">;

/** Returns of the completed plays on one seed, in order of play. Never empty: a seed without a completed play is absent. */
export interface SeedReturns {
  readonly seed: number;
  readonly returns: readonly number[];
}

/** Returns of one environment in one arm, ordered by seed. Failed episodes have no return and only count as `failed` (invariant 6). */
export interface ArmReturns {
  readonly seeds: readonly SeedReturns[];
  readonly failed: number;
}

/** Returns of one environment in both arms, at one policy version. */
export interface EnvironmentReturns {
  readonly plain: ArmReturns;
  readonly hint: ArmReturns;
}

/** Sorts one environment's episodes into arms and seeds; independent of the order of `episodes`. */
export function collectReturns(episodes: readonly PlayedEpisode[]): EnvironmentReturns {
  return { plain: collectArm(episodes, "plain"), hint: collectArm(episodes, "hint") };
}

function collectArm(episodes: readonly PlayedEpisode[], arm: Episode["arm"]): ArmReturns {
  const ordered = episodes.filter((episode) => episode.arm === arm).sort((a, b) => a.seed - b.seed || a.play - b.play);
  const bySeed = new Map<number, number[]>();
  let failed = 0;
  for (const episode of ordered) {
    const value = episodeReturn(episode.outcome);
    if (value === undefined) {
      failed++;
      continue;
    }
    invariant(Number.isFinite(value), `a return is finite (seed ${episode.seed}, play ${episode.play}, got ${value})`);
    const returns = bySeed.get(episode.seed);
    if (returns === undefined) bySeed.set(episode.seed, [value]);
    else returns.push(value);
  }
  return { seeds: [...bySeed].map(([seed, returns]) => ({ seed, returns })), failed };
}

/** Joins the plays of several iterations of one arm, seed by seed. */
export function mergeArms(arms: readonly ArmReturns[]): ArmReturns {
  const bySeed = new Map<number, number[]>();
  for (const { seed, returns } of arms.flatMap((arm) => arm.seeds)) bySeed.set(seed, [...(bySeed.get(seed) ?? []), ...returns]);
  const seeds = [...bySeed].sort(([a], [b]) => a - b).map(([seed, returns]) => ({ seed, returns }));
  return { seeds, failed: arms.reduce((sum, arm) => sum + arm.failed, 0) };
}

/** All returns of an arm, ordered by seed. */
export function allReturns(arm: ArmReturns): readonly number[] {
  return arm.seeds.flatMap((seed) => seed.returns);
}

/** Mean return over all completed episodes; absent when there are none. */
export function meanReturn(arm: ArmReturns): number | undefined {
  const returns = allReturns(arm);
  return returns.length === 0 ? undefined : mean(returns);
}

/** Share of completed episodes that were won, in [0, 1]; absent when there are none. */
export function winRate(arm: ArmReturns): number | undefined {
  const returns = allReturns(arm);
  return returns.length === 0 ? undefined : mean(wins(returns));
}

/** Share of won episodes on each seed that has a completed one. */
export function winRates(arm: ArmReturns): number[] {
  return arm.seeds.map(({ returns }) => mean(wins(returns)));
}

/**
 * Win rate on the scale whose zero is the best trivial policy: max(0, (w - trivial) / (1 - trivial)) (algorithm, section 6.10).
 * 0 when the trivial policy always wins.
 */
export function chanceCorrected(rate: number, trivialWinRate: number): number {
  return trivialWinRate >= 1 ? 0 : Math.max(0, (rate - trivialWinRate) / (1 - trivialWinRate));
}

/**
 * Mean over seeds of the unbiased estimate of p(1 - p), on the scale whose zero is `trivialWinRate` (0: no correction), floored at 0.
 * Absent unless some seed has two completed plays. Source: "Sampling For Learnability", arXiv 2408.15099; pooled plays would be fooled
 * by a mixture of trivial and impossible seeds.
 */
export function learnability(arm: ArmReturns, trivialWinRate = 0): number | undefined {
  const repeated = arm.seeds.filter((seed) => seed.returns.length > 1);
  if (repeated.length === 0) return undefined;
  if (trivialWinRate >= 1) return 0;
  const perSeed = repeated.map(({ returns }) => withinVariance(returns) - trivialWinRate * (1 - mean(wins(returns))));
  return Math.max(0, mean(perSeed)) / (1 - trivialWinRate) ** 2;
}

/**
 * Share of the variance of wins that lies between seeds, in [0, 1]: 0 when every seed is equally hard, 1 when each seed is always won or always lost.
 * Absent unless some seed has two completed plays; 0 when wins do not vary at all.
 */
export function betweenSeedShare(arm: ArmReturns): number | undefined {
  const repeated = arm.seeds.filter((seed) => seed.returns.length > 1);
  if (repeated.length === 0) return undefined;
  const rates = repeated.map(({ returns }) => mean(wins(returns)));
  const within = mean(repeated.map(({ returns }) => withinVariance(returns)));
  const samplingNoise = mean(repeated.map(({ returns }) => withinVariance(returns) / returns.length));
  const between = rates.length < 2 ? 0 : Math.max(0, squaredDeviations(rates) / (rates.length - 1) - samplingNoise);
  return between === 0 ? 0 : clip(between / (between + within), 0, 1);
}

/** Unbiased variance of the wins on one seed: p(1 - p) * k / (k - 1). */
function withinVariance(returns: readonly number[]): number {
  return squaredDeviations(wins(returns)) / (returns.length - 1);
}

function wins(returns: readonly number[]): number[] {
  return returns.map((value) => (isWin(value) ? 1 : 0));
}
