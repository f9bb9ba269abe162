import type { Environment } from "../core/environment.ts";
import { type Episode, episodeReturn } from "../core/episode.ts";
import { pairedRegret, type RegretEstimate } from "../credit/regret.ts";
import { type ArmReturns, collectReturns, type EnvironmentReturns, mergeArms, winRate } from "../credit/returns.ts";
import { designerReward, type EnvironmentStatistics, type MeasuredReward } from "../credit/reward.ts";
import type { Config } from "../config/schema.ts";
import type { StoredEnvironment } from "../report/run-rows.ts";

/** An environment in its window: what was seen of it so far. Plain JSON, part of the curriculum state. */
export interface WindowEnvironment {
  readonly environment: Environment;
  readonly family: string;
  /** Digest of the normalised syntax tree. */
  readonly skeleton: string;
  readonly stateVariables: number;
  readonly programTokens: number;
  /** Slow average of the skill's mean return when the environment was made (`learningPotential`). */
  readonly slowAverage?: number;
  /** Both arms at generation time; absent before the first plays. */
  readonly generation?: EnvironmentReturns;
  /** Plain arm of each iteration played. */
  readonly arms: readonly ArmReturns[];
  readonly timedOut: boolean;
  /** Only environments designed for this window are paid. */
  readonly origin: "designed" | "replayed" | "pool";
  /** Of an adaptive pool: the program that it is a variant of, and its difficulty. */
  readonly level?: { readonly of: string; readonly value: number };
}

/** An environment of the record as the window keeps it. */
export function windowEnvironment({ environment, facts }: Pick<StoredEnvironment, "environment" | "facts">, origin: WindowEnvironment["origin"]): WindowEnvironment {
  const { family, skeleton, stateVariables, programTokens } = facts;
  return { environment, family, skeleton, stateVariables, programTokens, arms: [], timedOut: false, origin };
}

/** A candidate of the window that the gates rejected. */
export interface RejectedDesign {
  readonly id: string;
  readonly skill: string;
  readonly family: string;
}

/** The environments that are played until the next regeneration. */
export interface Window {
  readonly bornAt: number;
  readonly environments: readonly WindowEnvironment[];
  readonly rejected: readonly RejectedDesign[];
}

/** Adds one iteration's episodes to the window. */
export function observe(window: Window, episodes: readonly Episode[]): Window {
  return { ...window, environments: window.environments.map((entry) => observeOne(entry, episodes.filter((episode) => episode.environmentId === entry.environment.id))) };
}

function observeOne(entry: WindowEnvironment, episodes: readonly Episode[]): WindowEnvironment {
  const returns = collectReturns(episodes);
  return {
    ...entry,
    generation: entry.generation ?? returns,
    arms: [...entry.arms, returns.plain],
    timedOut: entry.timedOut || episodes.some(({ outcome }) => outcome.kind === "failed" && outcome.boundary === "environment" && outcome.code === "timeout"),
  };
}

/** Paired regret at generation time; absent when there are too few completed episodes. */
export function regretOf(entry: WindowEnvironment, config: Config): RegretEstimate | undefined {
  const { designerReward: spec } = config;
  const options = { minEpisodesPerArm: spec.minEpisodesPerArm, confidence: 0.95 };
  return entry.generation === undefined ? undefined : pairedRegret(entry.generation, options);
}

/** Plain win rate over the window; absent when no episode completed. */
export function windowWinRate(entry: WindowEnvironment): number | undefined {
  return winRate(mergeArms(entry.arms));
}

/** The designer's reward for an environment; absent when it cannot be measured. */
export function rewardOf(entry: WindowEnvironment, config: Config): MeasuredReward | undefined {
  if (entry.generation === undefined) return undefined;
  const statistics: EnvironmentStatistics = {
    generation: entry.generation,
    window: entry.arms,
    trivialWinRate: entry.environment.trivialWinRate,
    timedOut: entry.timedOut,
    ...(entry.slowAverage === undefined ? {} : { slowAverage: entry.slowAverage }),
  };
  return designerReward(statistics, config.designerReward);
}

/** Plain episodes that completed, with their returns. */
export function completedPlain(episodes: readonly Episode[]): { readonly episode: Episode; readonly value: number }[] {
  return episodes.flatMap((episode) => {
    const value = episode.arm === "plain" ? episodeReturn(episode.outcome) : undefined;
    return value === undefined ? [] : [{ episode, value }];
  });
}
