import { deriveSeed, Rng } from "../core/seed.ts";
import { isWin } from "../core/episode.ts";
import { SpadeError } from "../core/errors.ts";
import type { GuestFailure, GuestResult, InstanceId, ProgramHandle, StepValue } from "../sandbox/sandbox.ts";
import { type Evidence, Rejection } from "./record.ts";

/** Chooses an action from what is seen; undefined stops the play. */
export type Player = (view: { readonly observation: string; readonly turn: number; readonly rng: Rng }) => string | undefined;

/** One play of a gate: a player on a seed. */
export interface Play {
  readonly seed: number;
  readonly player: Player;
  /** Seed of the player's own choices. */
  readonly playerSeed?: number;
}

export interface PlayTrace {
  readonly seed: number;
  readonly observation: string;
  readonly actions: readonly string[];
  readonly steps: readonly StepValue[];
  readonly won: boolean;
}

export interface PlayLimits {
  readonly maxTurns: number;
  /** Plays that run at once, each in an instance of its own; later plays reuse the instances through `reset`. */
  readonly width: number;
  /** Called before every batched call; throws to give up. */
  readonly checkTime: () => void;
}

/** Plays a fixed list of actions. */
export function script(actions: readonly string[]): Player {
  return ({ turn }) => actions[turn];
}

/** A step that ends an episode as a win (a return above 0.5). */
export function winningStep(step: StepValue): boolean {
  return step.terminated && isWin(step.reward);
}

/**
 * Runs plays to their end, in batches; traces come in the order of the plays.
 * @throws Rejection with the guest's failure code, the seed and the actions, as soon as guest code fails.
 */
export async function runPlays(handle: ProgramHandle, plays: readonly Play[], limits: PlayLimits): Promise<PlayTrace[]> {
  const instances: InstanceId[] = [];
  const traces: PlayTrace[] = [];
  for (let from = 0; from < plays.length; from += limits.width) {
    const batch = plays.slice(from, from + limits.width);
    limits.checkTime();
    const running = await begin(handle, batch, instances);
    for (let turn = 0; turn < limits.maxTurns; turn++) {
      limits.checkTime();
      if (!(await advance(handle, running, turn))) break;
    }
    traces.push(...running.map(({ seed, first, actions, steps }) => ({ seed, observation: first, actions, steps, won: steps.some(winningStep) })));
  }
  await handle.release(instances);
  return traces;
}

interface Running {
  readonly seed: number;
  readonly player: Player;
  readonly rng: Rng;
  readonly instance: InstanceId;
  readonly first: string;
  readonly actions: string[];
  readonly steps: StepValue[];
  observation: string;
  over: boolean;
}

/** Starts a batch, creating only the instances that are still missing. */
async function begin(handle: ProgramHandle, batch: readonly Play[], instances: InstanceId[]): Promise<Running[]> {
  const reused = batch.slice(0, instances.length);
  const created = batch.slice(instances.length);
  const observations: string[] = [];
  if (reused.length > 0) {
    const results = await handle.reset(reused.map(({ seed }, i) => ({ instance: instances[i] ?? 0, seed })));
    reused.forEach(({ seed }, i) => observations.push(need(results[i], "reset", { seed }).observation));
  }
  if (created.length > 0) {
    const results = await handle.create(created.map(({ seed }) => seed));
    created.forEach(({ seed }, i) => {
      const { instance, observation } = need(results[i], "reset", { seed });
      instances.push(instance);
      observations.push(observation);
    });
  }
  return batch.map(({ seed, player, playerSeed = 0 }, i) => {
    const observation = observations[i] ?? "";
    return { seed, player, rng: new Rng(playerSeed), instance: instances[i] ?? 0, first: observation, actions: [], steps: [], observation, over: false };
  });
}

/** One turn of every play that goes on; false when none does. */
async function advance(handle: ProgramHandle, running: readonly Running[], turn: number): Promise<boolean> {
  const calls: { play: Running; action: string }[] = [];
  for (const play of running) {
    if (play.over) continue;
    const action = play.player({ observation: play.observation, turn, rng: play.rng });
    if (action === undefined) play.over = true;
    else calls.push({ play, action });
  }
  if (calls.length === 0) return false;
  const results = await handle.step(calls.map(({ play, action }) => ({ instance: play.instance, action })));
  calls.forEach(({ play, action }, i) => {
    play.actions.push(action);
    const step = need(results[i], "step", { seed: play.seed, actions: play.actions.map(shorten) });
    play.steps.push(step);
    play.observation = step.observation;
    play.over = step.terminated || step.truncated;
  });
  return true;
}

/** How a play went, in words. */
export function outcome({ steps }: Pick<PlayTrace, "steps">): string {
  const last = steps.at(-1);
  if (last === undefined) return "no step";
  const end = last.terminated ? "terminated" : last.truncated ? "truncated" : "not ended";
  return `reward ${last.reward}, ${end} after ${steps.length} action${steps.length === 1 ? "" : "s"}`;
}

/** The value of a guest result. @throws Rejection with the failure's code. */
export function need<T>(result: GuestResult<T> | undefined, call: string, evidence: Evidence): T {
  if (result?.ok === true) return result.value;
  const failure: GuestFailure = result?.failure ?? { code: "protocol", message: "no answer" };
  throw new Rejection(failure.code, `${call} failed (${failure.code}): ${shorten(failure.message)}`, { call, ...evidence, expected: `${call} to return within its limits`, got: `${failure.code}: ${shorten(failure.message)}` });
}

/** Text cut to what evidence needs. */
export function shorten(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}

/** Probe seeds: 0, 1, 2 … for the first half, derived ones for the rest, so that both small and large seeds are seen. */
export function probeSeeds(count: number, seed: number): number[] {
  const small = Math.ceil(count / 2);
  return Array.from({ length: count }, (_, i) => (i < small ? i : deriveSeed(seed, "probe", i)));
}

/** Closes a program; a fault of its child is of no more interest then. */
export async function closeQuietly(handle: ProgramHandle): Promise<void> {
  try {
    await handle.close();
  } catch (error) {
    if (!(error instanceof SpadeError) || error.boundary !== "sandbox") throw error;
  }
}
