import type { Config } from "../config/schema.ts";
import { sha256 } from "../core/digest.ts";
import type { Environment } from "../core/environment.ts";
import type { Episode } from "../core/episode.ts";
import { SpadeError } from "../core/errors.ts";
import { deriveSeed } from "../core/seed.ts";
import { decodingSlots } from "../engine/types.ts";
import { difference, type Evaluation, score } from "../evaluation/evaluate.ts";
import type { Interval } from "../evaluation/intervals.ts";
import { type PlayProgress, playEpisodes } from "../rollout/play.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { dialogueOf, type Speaker } from "./dependencies.ts";

/** An environment as it is given to be played. */
export type GivenEnvironment = Pick<Environment, "id" | "program" | "hint"> & Partial<Pick<Environment, "skill" | "maxTurns">>;

export interface RolloutOptions {
  readonly environments: readonly GivenEnvironment[];
  readonly speaker: Speaker;
  readonly sandbox: Sandbox;
  readonly config: Config;
  /** Seeds per environment, the same in both arms. */
  readonly seeds: number;
  /** Plays per seed and arm. */
  readonly plays: number;
  /** Play the hint arm too, where there is a hint. */
  readonly withHint: boolean;
  /** Told of each episode when it is over. */
  readonly onEpisode: (episode: Episode) => void;
  readonly onProgress?: (progress: PlayProgress) => void;
}

/** Win rates of both arms, and what the hint adds. */
export interface RolloutScores {
  readonly plain: Evaluation;
  /** Absent when it was not played. */
  readonly hint?: Evaluation;
  /** Mean over environments of the hint arm's win rate less the plain arm's, on equal seeds; absent when no pair completed. */
  readonly gain?: { readonly difference: number; readonly interval: Interval };
}

/**
 * Plays given environments with a policy; equal options give equal episodes where the policy does. About twice as many episodes as the policy
 * samples at once are under way: it always has one to go on with, and little is lost when play is stopped.
 * @throws whatever the policy throws
 */
export function playRollouts(options: RolloutOptions): Promise<readonly Episode[]> {
  const { environments, speaker, sandbox, config, plays, withHint, onEpisode, onProgress } = options;
  const arms = environments.reduce((sum, { hint }) => sum + (withHint && hint !== undefined ? 2 : 1), 0);
  return playEpisodes({
    environments: environments.map(({ maxTurns = Infinity, ...environment }) => ({ environment: { ...environment, maxTurns: Math.min(maxTurns, config.play.maxTurns) }, seeds: rolloutSeeds(options) })),
    plays: { plain: plays, hint: withHint ? plays : 0 },
    sampling: config.play.sampling,
    dialogue: dialogueOf(speaker.renderer, config),
    policy: speaker.policy,
    sandbox,
    runSeed: config.run.seed,
    iteration: "rollout",
    mostUnderWay: 2 * ("maxConcurrentSamples" in config.policy ? config.policy.maxConcurrentSamples : decodingSlots),
    onEpisode,
    ...(onProgress === undefined ? {} : { onProgress: ({ episodesDone, tokens }) => onProgress({ episodesDone, episodes: arms * options.seeds * plays, tokens }) }),
  });
}

/** Scores the episodes of `playRollouts`. */
export function scoreRollouts(episodes: readonly Episode[], options: Pick<RolloutOptions, "environments" | "config" | "seeds" | "withHint">): RolloutScores {
  const { environments, config } = options;
  const programs = environments.map(({ id, skill = "", program }) => ({ file: id, skill, level: 0, title: id, program }));
  const suite = { name: "rollout", version: 1, digest: sha256(JSON.stringify(programs)), programs };
  const evaluate = (arm: Episode["arm"]): Evaluation => score(episodes.filter((episode) => episode.arm === arm), { suite, greedy: config.play.sampling.temperature === 0, seeds: rolloutSeeds(options) });
  const plain = evaluate("plain");
  if (!options.withHint) return { plain };
  const hint = evaluate("hint");
  return { plain, hint, ...gainOf(plain, hint) };
}

function gainOf(plain: Evaluation, hint: Evaluation): Pick<RolloutScores, "gain"> {
  try {
    return { gain: difference(plain, hint) };
  } catch (error) {
    if (error instanceof SpadeError && error.code === "usage.evaluation") return {};
    throw error;
  }
}

function rolloutSeeds({ config, seeds }: Pick<RolloutOptions, "config" | "seeds">): number[] {
  return Array.from({ length: seeds }, (_, i) => deriveSeed(config.run.seed, "rollout", i));
}
