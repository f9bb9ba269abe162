import { flooredRegret, pairedRegret } from "./regret.ts";
import type { RegretOptions } from "./regret.ts";
import { allReturns, betweenSeedShare, chanceCorrected, learnability, meanReturn, mergeArms, winRate } from "./returns.ts";
import type { ArmReturns, EnvironmentReturns } from "./returns.ts";
import { clip } from "./statistics.ts";

/**
 * Which regret a reward pays. `floored`: unpaired, floored at 0, as the paper does. `paired`: mean paired difference, not floored, so
 * that a hint without effect pays 0 on average. `lowerBound`: lower end of the paired interval, floored at 0.
 */
export type RegretKind = "floored" | "paired" | "lowerBound";

interface Shared {
  /** Fewest completed plain episodes (both arms for regret); below it the reward is absent. */
  readonly minEpisodesPerArm: number;
  /** Reward of an environment whose step exceeded its time limit. */
  readonly timeoutReward: number;
}

interface RegretTerm extends RegretOptions {
  readonly regretEstimate: RegretKind;
}

interface PlateauTerm {
  /** 1 for win rates in [low, high], falling linearly to 0 over `ramp` on either side. */
  readonly low: number;
  readonly high: number;
  readonly ramp: number;
  /** Take the best trivial policy's win rate as the zero of the scale. */
  readonly chanceCorrected: boolean;
  /** Multiply by the share of variance within seeds, so that a mixture of trivial and impossible seeds is not paid as "50 %". */
  readonly stratified: boolean;
}

/** The designer's reward (algorithm, section 3); one kind, with the parameters that this kind uses and no others. */
export type DesignerReward =
  | (Shared & RegretTerm & { readonly kind: "regret" })
  | (Shared & PlateauTerm & { readonly kind: "plateau" | "solveRate" })
  | (Shared & RegretTerm & PlateauTerm & {
      readonly kind: "blend";
      readonly plateauWeight: number;
      readonly regretWeight: number;
      /** Regret that earns the whole regret term. */
      readonly regretScale: number;
    })
  | (Shared & { readonly kind: "learningPotential"; readonly fastRate: number; readonly slowRate: number })
  | (Shared & { readonly kind: "microProgress"; readonly method: "slope" | "halves" })
  | (Shared & { readonly kind: "frontier"; readonly centre: number; readonly scale: number; readonly chanceCorrected: boolean })
  | (Shared & { readonly kind: "learnability"; readonly chanceCorrected: boolean });

/** Statistics of one environment, from which its designer is rewarded. */
export interface EnvironmentStatistics {
  /** Both arms at generation time, at one policy version. */
  readonly generation: EnvironmentReturns;
  /** Plain arm of each iteration of the environment's window in order, generation included. */
  readonly window: readonly ArmReturns[];
  /** Win rate of the best trivial policy, in [0, 1]. */
  readonly trivialWinRate: number;
  /** Slow average of the skill's mean return before this environment (`learningPotential`). */
  readonly slowAverage?: number;
  /** A step of the environment exceeded its time limit in play. */
  readonly timedOut: boolean;
}

/** A measured reward and the terms it was made of, by name, before weighting. */
export interface MeasuredReward {
  readonly reward: number;
  readonly components: Readonly<Record<string, number>>;
}

/** Reward of an environment's designer; absent when it cannot be measured (invariant 6). A time-out pays `timeoutReward`, whatever the arms say. */
export function designerReward(statistics: EnvironmentStatistics, spec: DesignerReward): MeasuredReward | undefined {
  if (statistics.timedOut) return { reward: spec.timeoutReward, components: { timeout: spec.timeoutReward } };
  if (allReturns(mergeArms(statistics.window)).length < spec.minEpisodesPerArm) return undefined;
  return measure(statistics, spec);
}

function measure(statistics: EnvironmentStatistics, spec: DesignerReward): MeasuredReward | undefined {
  switch (spec.kind) {
    case "blend":
      return blend(statistics, spec);
    case "regret":
      return single("regret", paidRegret(statistics.generation, spec));
    case "plateau":
    case "solveRate":
      return single("plateau", plateauTerm(statistics, spec));
    case "learningPotential":
      return single("learningPotential", learningPotential(statistics));
    case "microProgress":
      return single("microProgress", microProgress(statistics.window, spec.method));
    case "frontier":
      return single("frontier", frontier(statistics, spec));
    case "learnability":
      return single("learnability", learnability(mergeArms(statistics.window), spec.chanceCorrected ? statistics.trivialWinRate : 0));
  }
}

function single(name: string, value: number | undefined): MeasuredReward | undefined {
  return value === undefined ? undefined : { reward: value, components: { [name]: value } };
}

function blend(statistics: EnvironmentStatistics, spec: Extract<DesignerReward, { kind: "blend" }>): MeasuredReward | undefined {
  const plateauValue = plateauTerm(statistics, spec);
  const regret = regretComponent(statistics.generation, spec);
  if (plateauValue === undefined || regret === undefined) return undefined;
  return { reward: spec.plateauWeight * plateauValue + spec.regretWeight * regret, components: { plateau: plateauValue, regret } };
}

/** Regret in units of return as `regretEstimate` says; absent below the minimum of episodes. */
export function paidRegret(returns: EnvironmentReturns, spec: RegretTerm): number | undefined {
  if (spec.regretEstimate === "floored") return flooredRegret(returns, spec.minEpisodesPerArm);
  const estimate = pairedRegret(returns, spec);
  if (estimate === undefined) return undefined;
  return spec.regretEstimate === "paired" ? estimate.mean : Math.max(0, estimate.interval[0]);
}

/**
 * Regret term of the blend: regret / regretScale, clipped to [-1, 1]. Symmetric, so the expectation under an ineffective hint is 0 when
 * both arms have equally many plays per seed; the floored kinds never leave [0, 1].
 */
export function regretComponent(returns: EnvironmentReturns, spec: RegretTerm & { readonly regretScale: number }): number | undefined {
  const regret = paidRegret(returns, spec);
  return regret === undefined ? undefined : clip(regret / spec.regretScale, -1, 1);
}

/** 1 for `rate` in [low, high], falling linearly to 0 over `ramp` on either side. */
export function plateau(rate: number, shape: { readonly low: number; readonly high: number; readonly ramp: number }): number {
  const distance = Math.max(shape.low - rate, rate - shape.high, 0);
  if (distance === 0) return 1;
  return shape.ramp === 0 ? 0 : Math.max(0, 1 - distance / shape.ramp);
}

function plateauTerm(statistics: EnvironmentStatistics, spec: PlateauTerm): number | undefined {
  const rate = difficulty(statistics, spec.chanceCorrected);
  if (rate === undefined) return undefined;
  if (!spec.stratified) return plateau(rate, spec);
  const between = betweenSeedShare(mergeArms(statistics.window));
  return between === undefined ? undefined : plateau(rate, spec) * (1 - between);
}

function difficulty(statistics: EnvironmentStatistics, corrected: boolean): number | undefined {
  const rate = winRate(mergeArms(statistics.window));
  if (rate === undefined || !corrected) return rate;
  return chanceCorrected(rate, statistics.trivialWinRate);
}

function frontier(statistics: EnvironmentStatistics, spec: Extract<DesignerReward, { kind: "frontier" }>): number | undefined {
  const rate = difficulty(statistics, spec.chanceCorrected);
  return rate === undefined ? undefined : -((rate - spec.centre) ** 2) / spec.scale;
}

function learningPotential(statistics: EnvironmentStatistics): number | undefined {
  const plain = meanReturn(statistics.generation.plain);
  if (plain === undefined || statistics.slowAverage === undefined) return undefined;
  return Math.abs(plain - statistics.slowAverage);
}

/** Change of the win rate over the window, per iteration (`slope`) or late half minus early half; iterations weigh by their plays. */
function microProgress(window: readonly ArmReturns[], method: "slope" | "halves"): number | undefined {
  const points = window.flatMap((arm, position) => {
    const rate = winRate(arm);
    return rate === undefined ? [] : [{ position, rate, weight: allReturns(arm).length }];
  });
  if (points.length < 2) return undefined;
  if (method === "slope") return weightedSlope(points);
  const half = Math.floor(points.length / 2);
  return weightedMean(points.slice(points.length - half)).rate - weightedMean(points.slice(0, half)).rate;
}

interface WeightedPoint {
  readonly position: number;
  readonly rate: number;
  readonly weight: number;
}

function weightedSlope(points: readonly WeightedPoint[]): number {
  const centre = weightedMean(points);
  let covariance = 0;
  let variance = 0;
  for (const { position, rate, weight } of points) {
    covariance += weight * (position - centre.position) * (rate - centre.rate);
    variance += weight * (position - centre.position) ** 2;
  }
  return covariance / variance;
}

function weightedMean(points: readonly WeightedPoint[]): { readonly position: number; readonly rate: number } {
  const total = points.reduce((sum, point) => sum + point.weight, 0);
  const average = (key: "position" | "rate"): number => points.reduce((sum, point) => sum + point.weight * point[key], 0) / total;
  return { position: average("position"), rate: average("rate") };
}
