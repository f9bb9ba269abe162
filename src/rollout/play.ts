import type { Environment, Program } from "../core/environment.ts";
import { invariant, SpadeError } from "../core/errors.ts";
import type { Episode } from "../core/episode.ts";
import type { Arm } from "../core/role.ts";
import { deriveSeed } from "../core/seed.ts";
import { sampledCount } from "../policy/either.ts";
import type { AnyPolicy, Sampling } from "../policy/policy.ts";
import { type Ask, type Rank, SamplingTasks } from "../policy/sampling-tasks.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { type Answer, Cohort } from "./cohort.ts";
import { type Dialogue, type EpisodeSpec, fail, failAtStart, type Next, receiveSample, receiveStep, start } from "./episode.ts";

/** An environment with the one list of seeds that drives both arms (invariant 5). */
export interface PlayedEnvironment {
  readonly environment: Pick<Environment, "id" | "program" | "maxTurns" | "hint">;
  readonly seeds: readonly number[];
}

export interface PlayProgress {
  readonly episodesDone: number;
  readonly episodes: number;
  /** Tokens sampled so far. */
  readonly tokens: number;
}

export interface PlayOptions {
  readonly environments: readonly PlayedEnvironment[];
  /** Plays per seed in each arm; an arm with 0 is not played, nor is the hint arm of an environment without a hint. */
  readonly plays: Readonly<Record<Arm, number>>;
  readonly sampling: Sampling;
  readonly dialogue: Dialogue;
  readonly policy: AnyPolicy;
  readonly sandbox: Sandbox;
  readonly runSeed: number;
  /** Part of the episodes' ids and of the samples' seeds: what these episodes are played for. */
  readonly iteration: number | string;
  /** Another environment begins once fewer episodes than this are under way. Default: all begin at once. */
  readonly mostUnderWay?: number;
  /** Told of each episode when it is over, in the order of their ends. */
  readonly onEpisode?: (episode: Episode) => void;
  readonly onProgress?: (progress: PlayProgress) => void;
}

/**
 * Plays all episodes. With a concurrent policy each goes at its own pace; with any other, all wait for the slowest of a turn and are sampled
 * in one batch. Episodes are returned in canonical order (environment, arm, seed, play). Equal options give equal episodes.
 * @throws `rollout.options` when ids or counts make no sense; whatever the policy throws.
 */
export async function playEpisodes(options: PlayOptions): Promise<Episode[]> {
  checkOptions(options);
  const { environments, mostUnderWay = Infinity, onProgress } = options;
  const progress = new Progress(onProgress);
  return SamplingTasks.during(async (tasks) => {
    const plays: Promise<Episode[]>[] = [];
    for (const [i, played] of environments.entries()) {
      // The second is for a play that fails: nothing would come free any more.
      await Promise.race([progress.fewerThan(mostUnderWay), Promise.all(plays)]);
      plays.push(playEnvironment(played, { ...options, tasks, progress, rank: [0, i] }));
    }
    const episodes = (await Promise.all(plays)).flat();
    progress.report();
    return episodes;
  });
}

/** How the episodes of one environment are played among other tasks. */
export interface EnvironmentPlay extends Omit<PlayOptions, "environments" | "mostUnderWay" | "onProgress"> {
  readonly tasks: SamplingTasks;
  readonly progress: Progress;
  /** Begins the ranks of the episodes' samples. */
  readonly rank: Rank;
}

/** Plays one environment's episodes beside whatever else the tasks do; in canonical order (arm, seed, play). */
export function playEnvironment(played: PlayedEnvironment, options: EnvironmentPlay): Promise<Episode[]> {
  const { tasks, sandbox, progress } = options;
  const specs = specsOf(played, options);
  progress.begin(specs.length);
  const cohorts: Promise<Episode[]>[] = [];
  for (let from = 0; from < specs.length; from += sandbox.limits.maxInstances) {
    const part = specs.slice(from, from + sandbox.limits.maxInstances);
    cohorts.push(tasks.flow(() => playCohort(part, { ...options, program: played.environment.program, from })));
  }
  return Promise.all(cohorts).then((episodes) => episodes.flat());
}

function checkOptions({ environments, plays: { plain, hint } }: PlayOptions): void {
  const ids = new Set(environments.map(({ environment }) => environment.id));
  if (ids.size !== environments.length) {
    throw new SpadeError("rollout.options", `${environments.length} environments were given but only ${ids.size} distinct ids; give each environment an id of its own.`);
  }
  if (![plain, hint].every((plays) => Number.isInteger(plays) && plays >= 0) || plain + hint === 0) {
    throw new SpadeError("rollout.options", `plays are ${plain} plain and ${hint} with hint; expected whole numbers, at least one of them above 0.`);
  }
}

function specsOf({ environment, seeds }: PlayedEnvironment, options: EnvironmentPlay): EpisodeSpec[] {
  const { runSeed, iteration, sampling, policy, plays } = options;
  const { hint, maxTurns } = environment;
  const arms = (["plain", "hint"] as const).filter((arm) => arm === "plain" || hint !== undefined);
  return arms.flatMap((arm) =>
    seeds.flatMap((seed, seedIndex) =>
      Array.from({ length: plays[arm] }, (_, play): EpisodeSpec => ({
        id: `${iteration}/${environment.id}/${arm}/${seedIndex}/${play}`,
        environmentId: environment.id,
        arm,
        seed,
        play,
        ...(arm === "hint" && hint !== undefined ? { hint } : {}),
        maxTurns,
        contextLength: policy.contextLength,
        sampling,
        sampleSeed: (turn) => deriveSeed(runSeed, iteration, environment.id, arm, seed, play, turn),
      })),
    ),
  );
}

/** Episodes of one program in one set of instances; the first has the number `from` within its environment. */
async function playCohort(specs: readonly EpisodeSpec[], options: EnvironmentPlay & { readonly program: Program; readonly from: number }): Promise<Episode[]> {
  const { tasks, sandbox, program, from } = options;
  const cohort = new Cohort(sandbox, program, specs.map(({ seed }) => seed));
  const started = cohort.start();
  const episodes = specs.map((spec, member) => tasks.run((ask) => playEpisode(spec, { ...options, ask, cohort, member, started, rank: [...options.rank, from + member] })));
  // The program stays open until its last episode is over, whatever becomes of the others.
  await Promise.allSettled(episodes);
  await cohort.close();
  return Promise.all(episodes);
}

interface Seat extends Pick<EnvironmentPlay, "dialogue" | "policy" | "progress" | "rank" | "onEpisode"> {
  readonly ask: Ask;
  readonly cohort: Cohort;
  /** The episode's index in its cohort. */
  readonly member: number;
  readonly started: Promise<readonly Answer<string>[]>;
}

async function playEpisode(spec: EpisodeSpec, { ask, policy, cohort, member, started, dialogue, progress, rank, onEpisode }: Seat): Promise<Episode> {
  const first = (await started)[member];
  invariant(first !== undefined, "a cohort answers for every member");
  let next: Next = first.ok
    ? start(spec, { observation: first.value, actionForm: cohort.actionForm }, dialogue)
    : { kind: "end", episode: failAtStart(spec, first.fault.boundary, first.fault.code) };
  while (next.kind !== "end") {
    if (next.kind === "sample") {
      const sample = await ask(policy, next.request, { rank });
      progress.sampled(sampledCount(sample));
      next = receiveSample(next.state, sample, dialogue);
    } else {
      const answer = await cohort.step(member, next.action);
      next = answer.ok ? receiveStep(next.state, answer.value) : { kind: "end", episode: fail(next.state, answer.fault.boundary, answer.fault.code) };
    }
  }
  await cohort.leave([member]);
  onEpisode?.(next.episode);
  progress.ended();
  return next.episode;
}

/** Counts episodes and tokens of a play; tells at most once for all that happens at the same moment. */
export class Progress {
  readonly #tell: ((progress: PlayProgress) => void) | undefined;
  #counts = { episodesDone: 0, episodes: 0, tokens: 0 };
  #telling = false;
  #end = Promise.withResolvers<undefined>();

  constructor(tell?: (progress: PlayProgress) => void) {
    this.#tell = tell;
  }

  begin(episodes: number): void {
    this.#counts.episodes += episodes;
    this.#soon();
  }

  sampled(tokens: number): void {
    this.#counts.tokens += tokens;
    this.#soon();
  }

  ended(): void {
    this.#counts.episodesDone += 1;
    this.#end.resolve(undefined);
    this.#end = Promise.withResolvers();
    this.#soon();
  }

  /** Waits until fewer than `most` of the episodes that have begun are under way. */
  async fewerThan(most: number): Promise<void> {
    while (this.#counts.episodes - this.#counts.episodesDone >= most) await this.#end.promise;
  }

  /** Tells where it stands now. */
  report(): void {
    this.#telling = false;
    this.#tell?.({ ...this.#counts });
  }

  #soon(): void {
    if (this.#telling) return;
    this.#telling = true;
    setImmediate(() => {
      if (this.#telling) this.report();
    });
  }
}
