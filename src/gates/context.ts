import type { Clock } from "../core/clock.ts";
import type { Program } from "../core/environment.ts";
import type { GuestResult, ProgramHandle, Sandbox } from "../sandbox/sandbox.ts";
import type { Auditor } from "./audit.ts";
import type { GatesConfig } from "./config.ts";
import type { ArchivedProgram } from "./novelty.ts";
import { need, type Play, type PlayTrace, probeSeeds, runPlays } from "./probe.ts";
import { Rejection } from "./record.ts";

/** What a gate may look at once the program is loaded. */
export interface GateContext {
  readonly config: GatesConfig;
  readonly sandbox: Sandbox;
  readonly program: Program;
  readonly handle: ProgramHandle;
  /** Text of the grounding document. */
  readonly document: string;
  /** Programs that a new one is compared with. */
  readonly archive: readonly ArchivedProgram[];
  /** Present when the audit is on. */
  readonly auditor?: Auditor;
  /** Seed of every random choice of the gates. */
  readonly seed: number;
  readonly seeds: readonly number[];
  /** The lower of the program's and the run's turn limit. */
  readonly maxTurns: number;
  /** First observation on each probe seed. @throws Rejection when a reset fails. */
  readonly observations: () => Promise<readonly string[]>;
  /** `solution()` on each probe seed, directly after the reset. @throws Rejection when a reset fails. */
  readonly solutions: () => Promise<readonly GuestResult<readonly string[]>[]>;
  /** First observations and solutions on other seeds. @throws Rejection when a reset fails. */
  readonly lookAt: (seeds: readonly number[]) => Promise<FirstLook>;
  /** Runs plays to their end. @throws Rejection when guest code fails or the gate's time is over. */
  readonly run: (plays: readonly Play[], options?: RunOptions) => Promise<readonly PlayTrace[]>;
  /** Starts the clock of the next gate. */
  readonly startGate: () => void;
}

/** What a program shows and how it is won, per seed. */
export interface FirstLook {
  readonly observations: readonly string[];
  readonly solutions: readonly GuestResult<readonly string[]>[];
}

export interface RunOptions {
  /** Default: the candidate's own handle. */
  readonly handle?: ProgramHandle;
  /** Default: the context's turn limit. */
  readonly maxTurns?: number;
  /** Plays at once. Default: 32. */
  readonly width?: number;
}

/** Options of `gateContext`. */
export type ContextOptions = Pick<GateContext, "config" | "sandbox" | "program" | "handle" | "document" | "archive" | "auditor" | "seed"> & { readonly clock: Clock };

/** Plays at once in one program; more would only cost memory. */
const defaultWidth = 32;

/** Makes a context; first observations and solutions are read once, when first asked for. */
export function gateContext(options: ContextOptions): GateContext {
  const { config, handle, sandbox, seed, clock } = options;
  const seeds = probeSeeds(config.probeSeeds, seed);
  const maxTurns = Math.max(1, Math.min(config.maxTurns, handle.facts.maxTurns ?? config.maxTurns));
  let started = clock();
  const checkTime = (): void => {
    if (clock() - started <= config.wallMsPerGate) return;
    throw new Rejection("timeout", `The gate took longer than ${config.wallMsPerGate} ms; the program is too slow to be judged.`, { expected: `at most ${config.wallMsPerGate} ms`, got: "more" });
  };
  let first: Promise<FirstLook> | undefined;
  const look = (): Promise<FirstLook> => (first ??= firstLook(handle, seeds));
  return {
    ...options,
    seeds,
    maxTurns,
    observations: async () => (await look()).observations,
    solutions: async () => (await look()).solutions,
    lookAt: (others) => firstLook(handle, others),
    run: (plays, { handle: on = handle, maxTurns: turns = maxTurns, width = defaultWidth } = {}) =>
      runPlays(on, plays, { maxTurns: turns, width: Math.min(width, sandbox.limits.maxInstances), checkTime }),
    startGate: () => {
      started = clock();
    },
  };
}

async function firstLook(handle: ProgramHandle, seeds: readonly number[]): Promise<FirstLook> {
  const created = (await handle.create(seeds)).map((result, i) => need(result, "reset", { seed: seeds[i] }));
  const instances = created.map(({ instance }) => instance);
  const solutions: readonly GuestResult<readonly string[]>[] = handle.facts.hasSolution
    ? await handle.solution(instances)
    : instances.map(() => ({ ok: false, failure: { code: "protocol", message: "the program has no solution()" } }));
  await handle.release(instances);
  return {
    observations: created.map(({ observation }) => observation),
    solutions,
  };
}

/** A seed with its first observation and solution. */
export interface SolvedSeed {
  readonly seed: number;
  readonly observation: string;
  readonly solution: readonly string[];
}

/** The probe seeds with their solutions; seeds whose solution fails are left out (gate `solvable` judges those). */
export async function solvedSeeds(context: GateContext): Promise<SolvedSeed[]> {
  return solved(context.seeds, { observations: await context.observations(), solutions: await context.solutions() });
}

/** Pairs seeds with what was seen on them; seeds whose solution fails are left out. */
export function solved(seeds: readonly number[], { observations, solutions }: FirstLook): SolvedSeed[] {
  return seeds.flatMap((seed, i) => {
    const solution = solutions[i];
    return solution?.ok === true ? [{ seed, observation: observations[i] ?? "", solution: solution.value }] : [];
  });
}
