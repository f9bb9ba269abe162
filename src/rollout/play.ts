import type { Environment } from "../core/environment.ts";
import { invariant, SpadeError } from "../core/errors.ts";
import type { Episode } from "../core/episode.ts";
import type { Arm } from "../core/role.ts";
import { deriveSeed } from "../core/seed.ts";
import { sampledCount } from "../policy/either.ts";
import type { AnyPolicy, Sampling } from "../policy/policy.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { Cohort } from "./cohort.ts";
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
  readonly onProgress?: (progress: PlayProgress) => void;
}

/**
 * Plays all episodes of an iteration in lock step: per turn one batch of samples over all of them, in canonical order
 * (environment, arm, seed, play), then one batch of steps per environment. Episodes are returned in that order. Equal
 * options give equal episodes.
 * @throws `rollout.options` when ids or counts make no sense; whatever the policy throws.
 */
export async function playEpisodes(options: PlayOptions): Promise<Episode[]> {
  const cohorts = plan(options);
  const slots = cohorts.flatMap((cohort) => cohort.slots);
  const report = progressReporter(slots, options.onProgress);
  try {
    await Promise.all(cohorts.map((cohort) => startCohort(cohort, options.dialogue)));
    report(0);
    for (;;) {
      const sampled = await sampleWave(slots, options);
      if (sampled === undefined) break;
      await Promise.all(cohorts.map(stepCohort));
      report(sampled);
    }
  } finally {
    await Promise.all(cohorts.map(({ cohort }) => cohort.close()));
  }
  return slots.map(({ next }) => {
    invariant(next?.kind === "end", "every episode ends");
    return next.episode;
  });
}

interface Slot {
  readonly spec: EpisodeSpec;
  /** Absent before the start. */
  next?: Next;
}

interface PlannedCohort {
  readonly cohort: Cohort;
  readonly slots: readonly Slot[];
}

/** Episodes in canonical order, split into cohorts of at most `maxInstances`. */
function plan(options: PlayOptions): PlannedCohort[] {
  const ids = new Set(options.environments.map(({ environment }) => environment.id));
  if (ids.size !== options.environments.length) {
    throw new SpadeError("rollout.options", `${options.environments.length} environments were given but only ${ids.size} distinct ids; give each environment an id of its own.`);
  }
  const { plain, hint } = options.plays;
  if (![plain, hint].every((plays) => Number.isInteger(plays) && plays >= 0) || plain + hint === 0) {
    throw new SpadeError("rollout.options", `plays are ${plain} plain and ${hint} with hint; expected whole numbers, at least one of them above 0.`);
  }
  const width = options.sandbox.limits.maxInstances;
  return options.environments.flatMap((played) => {
    const slots = specsOf(played, options).map((spec): Slot => ({ spec }));
    const cohorts: PlannedCohort[] = [];
    for (let from = 0; from < slots.length; from += width) {
      const part = slots.slice(from, from + width);
      cohorts.push({ cohort: new Cohort(options.sandbox, played.environment.program, part.map((slot) => slot.spec.seed)), slots: part });
    }
    return cohorts;
  });
}

function specsOf({ environment, seeds }: PlayedEnvironment, options: PlayOptions): EpisodeSpec[] {
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

async function startCohort({ cohort, slots }: PlannedCohort, dialogue: Dialogue): Promise<void> {
  const answers = await cohort.start();
  slots.forEach((slot, i) => {
    const answer = answers[i];
    invariant(answer !== undefined, "a cohort answers for every member");
    slot.next = answer.ok
      ? start(slot.spec, { observation: answer.value, actionForm: cohort.actionForm }, dialogue)
      : { kind: "end", episode: failAtStart(slot.spec, answer.fault.boundary, answer.fault.code) };
  });
}

/** Samples for every episode that waits for the policy; the number of tokens sampled, undefined when none waits. */
async function sampleWave(slots: readonly Slot[], options: PlayOptions): Promise<number | undefined> {
  const waiting: { slot: Slot; next: Next & { kind: "sample" } }[] = [];
  for (const slot of slots) if (slot.next?.kind === "sample") waiting.push({ slot, next: slot.next });
  if (waiting.length === 0) return undefined;
  const requests = waiting.map(({ next }) => next.request);
  const samples = await options.policy.sample(requests);
  invariant(samples.length === requests.length, "a policy returns one sample per request");
  let tokens = 0;
  waiting.forEach(({ slot, next }, i) => {
    const sample = samples[i];
    invariant(sample !== undefined, "a policy returns one sample per request");
    tokens += sampledCount(sample);
    slot.next = receiveSample(next.state, sample, options.dialogue);
  });
  return tokens;
}

async function stepCohort({ cohort, slots }: PlannedCohort): Promise<void> {
  const acting: { slot: Slot; next: Next & { kind: "step" }; member: number }[] = [];
  slots.forEach((slot, member) => {
    if (slot.next?.kind === "step") acting.push({ slot, next: slot.next, member });
  });
  if (acting.length > 0) {
    const answers = await cohort.step(acting.map(({ member, next }) => ({ member, action: next.action })));
    acting.forEach(({ slot, next }, i) => {
      const answer = answers[i];
      invariant(answer !== undefined, "a cohort answers every step");
      slot.next = answer.ok
        ? receiveStep(next.state, answer.value)
        : { kind: "end", episode: fail(next.state, answer.fault.boundary, answer.fault.code) };
    });
  }
  await cohort.leave(slots.flatMap((slot, member) => (slot.next?.kind === "end" ? [member] : [])));
}

function progressReporter(slots: readonly Slot[], onProgress: PlayOptions["onProgress"]): (tokens: number) => void {
  let total = 0;
  return (tokens) => {
    total += tokens;
    onProgress?.({ episodesDone: slots.filter((slot) => slot.next?.kind === "end").length, episodes: slots.length, tokens: total });
  };
}
