import { type Episode, episodeReturn, isWin } from "../core/episode.ts";
import { SpadeError } from "../core/errors.ts";
import { deriveSeed } from "../core/seed.ts";
import { mean } from "../credit/statistics.ts";
import type { AnyPolicy, Sampling } from "../policy/policy.ts";
import type { Dialogue } from "../rollout/episode.ts";
import { playEpisodes, type PlayProgress } from "../rollout/play.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { wilson } from "../credit/statistics.ts";
import { bootstrap, type Interval, meanOfMeans } from "./intervals.ts";
import type { Suite, SuiteProgram } from "./suite.ts";

/** A win rate over completed episodes. `winRate` and `interval` are absent when none completed: missing is not zero. */
export interface Rate {
  readonly winRate?: number;
  /** 95 %: Wilson for one program, bootstrap over programs and seeds for several. */
  readonly interval?: Interval;
  readonly episodes: number;
  readonly wins: number;
  /** Episodes without a return; not in `episodes`. */
  readonly failed: number;
}

export interface ProgramScore extends Rate, Pick<SuiteProgram, "file" | "skill" | "level" | "title"> {
  /** Win rate per seed, in the order of the seeds; null where no play completed. */
  readonly bySeed: readonly (number | null)[];
}

export interface Evaluation {
  readonly suite: string;
  readonly suiteDigest: string;
  readonly mode: "sampled" | "greedy";
  readonly seeds: readonly number[];
  /** Mean over programs, each weighing the same. */
  readonly overall: Rate;
  readonly skills: readonly (Rate & { readonly skill: string })[];
  readonly levels: readonly (Rate & { readonly level: number })[];
  readonly programs: readonly ProgramScore[];
}

export interface EvaluateOptions {
  readonly suite: Suite;
  readonly policy: AnyPolicy;
  readonly sandbox: Sandbox;
  readonly dialogue: Dialogue;
  /** Fixed seeds of `reset`, the same for every checkpoint. */
  readonly seeds: readonly number[];
  /** Plays per seed; one when greedy. */
  readonly plays: number;
  readonly sampling: Sampling;
  /** Temperature 0: the policy takes its most likely token at every step. */
  readonly greedy: boolean;
  readonly maxTurns: number;
  readonly onProgress?: (progress: PlayProgress) => void;
}

/** Root of the evaluation's seeds: a score depends on the policy and the suite, never on a run's seed. */
const evaluationSeed = 0;

/** Plays every program of a suite on fixed seeds without hints and scores it. Equal policies give equal evaluations. */
export async function evaluate(options: EvaluateOptions): Promise<Evaluation> {
  return score(await playSuite(options), options);
}

/** The episodes of an evaluation, in canonical order; an episode's environment is its program's file. */
export async function playSuite(options: EvaluateOptions): Promise<Episode[]> {
  const { suite, policy, sandbox, dialogue, seeds, greedy, sampling, maxTurns, onProgress } = options;
  return playEpisodes({
    environments: suite.programs.map(({ file, program }) => ({ environment: { id: file, program, maxTurns }, seeds })),
    plays: { plain: greedy ? 1 : options.plays, hint: 0 },
    sampling: greedy ? { ...sampling, temperature: 0 } : sampling,
    dialogue,
    policy,
    sandbox,
    runSeed: evaluationSeed,
    iteration: `evaluation-${suite.name}-${greedy ? "greedy" : "sampled"}`,
    ...(onProgress === undefined ? {} : { onProgress }),
  });
}

/** Scores the episodes of `playSuite`. */
export function score(episodes: readonly Episode[], options: Pick<EvaluateOptions, "suite" | "greedy" | "seeds">): Evaluation {
  const { suite, greedy, seeds } = options;
  const programs = suite.programs.map((entry) => scoreProgram(entry, seeds, episodes));
  const skills = [...new Set(programs.map(({ skill }) => skill))];
  const levels = [...new Set(programs.map(({ level }) => level))].sort((a, b) => a - b);
  return {
    suite: suite.name,
    suiteDigest: suite.digest,
    mode: greedy ? "greedy" : "sampled",
    seeds,
    overall: pool(programs),
    skills: skills.map((skill) => ({ skill, ...pool(programs.filter((program) => program.skill === skill)) })),
    levels: levels.map((level) => ({ level, ...pool(programs.filter((program) => program.level === level)) })),
    programs,
  };
}

function scoreProgram({ file, skill, level, title }: SuiteProgram, seeds: readonly number[], episodes: readonly Episode[]): ProgramScore {
  const own = episodes.filter((episode) => episode.environmentId === file);
  const winsOn = (seed: number): number[] =>
    own.flatMap((episode) => {
      const value = episode.seed === seed ? episodeReturn(episode.outcome) : undefined;
      return value === undefined ? [] : [isWin(value) ? 1 : 0];
    });
  const outcomes = seeds.map(winsOn);
  const all = outcomes.flat();
  const wins = all.filter((won) => won === 1).length;
  const rate = all.length === 0 ? {} : { winRate: wins / all.length, interval: wilson(wins, all.length) };
  const bySeed = outcomes.map((values) => (values.length === 0 ? null : mean(values)));
  return { file, skill, level, title, ...rate, episodes: all.length, wins, failed: own.length - all.length, bySeed };
}

function pool(programs: readonly ProgramScore[]): Rate {
  const counts = {
    episodes: programs.reduce((sum, program) => sum + program.episodes, 0),
    wins: programs.reduce((sum, program) => sum + program.wins, 0),
    failed: programs.reduce((sum, program) => sum + program.failed, 0),
  };
  const values = programs.map(({ bySeed }) => bySeed.filter((value) => value !== null)).filter((row) => row.length > 0);
  if (values.length === 0) return counts;
  return { winRate: meanOfMeans(values), interval: bootstrap(values, deriveSeed(evaluationSeed, "bootstrap")), ...counts };
}

/**
 * Difference of the overall win rate, `after` minus `before`, paired by program and seed, with its 95 % bootstrap interval
 * over programs and seeds. Cells that are missing on either side are left out.
 * @throws `usage.evaluation` when the two are of different suites, modes or seeds, or share no cell.
 */
export function difference(before: Evaluation, after: Evaluation): { readonly difference: number; readonly interval: Interval } {
  if (before.suiteDigest !== after.suiteDigest || before.mode !== after.mode || before.seeds.join() !== after.seeds.join()) {
    throw new SpadeError("usage.evaluation", `Two evaluations cannot be compared: ${describe(before)} and ${describe(after)}. Score both with one suite, mode and seeds.`);
  }
  const values = before.programs
    .map(({ bySeed }, i) =>
      bySeed.flatMap((value, j) => {
        const other = after.programs[i]?.bySeed[j] ?? null;
        return value === null || other === null ? [] : [other - value];
      }),
    )
    .filter((row) => row.length > 0);
  if (values.length === 0) throw new SpadeError("usage.evaluation", "Two evaluations share no completed episode; look for the failures in their records.");
  return { difference: meanOfMeans(values), interval: bootstrap(values, deriveSeed(evaluationSeed, "difference")) };
}

function describe({ suite, suiteDigest, mode, seeds }: Evaluation): string {
  return `${suite} ${suiteDigest.slice(0, 8)} (${mode}, ${seeds.length} seeds)`;
}
