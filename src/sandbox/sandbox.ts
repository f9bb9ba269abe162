import type { Program } from "../core/environment.ts";

/** Why guest code failed: a value, never an exception of the host. */
export type GuestFailureCode = "parse" | "raise" | "timeout" | "fuel" | "memory" | "output" | "exit" | "protocol" | "denied";

export interface GuestFailure {
  readonly code: GuestFailureCode;
  readonly message: string;
}

export type GuestResult<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: GuestFailure };

/** Limits on guest code; every field has a default in `defaultLimits`. */
export interface Limits {
  /** Deterministic budget of interpreter ticks per call (failure `fuel`). */
  readonly fuelPerCall: number;
  /** Wall clock per batched call; past it the child is killed and reaped (failure `timeout`). */
  readonly wallMsPerCall: number;
  /** Growth of the interpreter's memory over the base image (failure `memory`). */
  readonly memoryLimitBytes: number;
  /** Characters of one observation (failure `output`). */
  readonly maxObservationChars: number;
  /** Bytes of one batched answer (failure `output`). */
  readonly maxOutputBytes: number;
  /** Live instances per program. */
  readonly maxInstances: number;
}

export interface ResetValue {
  readonly observation: string;
}

export interface StepValue {
  readonly observation: string;
  readonly reward: number;
  readonly terminated: boolean;
  readonly truncated: boolean;
  /** Coercions made at the border, for example `True` as a reward. */
  readonly warnings: readonly string[];
}

/** Facts about a loaded program, read without running an episode. */
export interface ProgramFacts {
  /** Name of the entry class, found by protocol. */
  readonly entry: string;
  readonly hasSolution: boolean;
  /** Turn limit the program declares (`max_turns`), if any. */
  readonly maxTurns?: number;
  /** Digest of the normalised syntax tree: identifiers renamed, constants replaced by their type. */
  readonly skeleton: string;
  /** Hashes of the syntax tree's normalised subtrees, sorted and distinct, for nearest-neighbour measures. */
  readonly shingles: readonly number[];
  /** String constants of the program, docstrings excluded. */
  readonly strings: readonly string[];
  /** Number of attributes assigned on `self`. */
  readonly stateVariables: number;
}

export type InstanceId = number;

/** A loaded program in one child. Calls on one handle run in the order they were made. */
export interface ProgramHandle {
  readonly facts: ProgramFacts;
  /** Index of the child that holds it, in [0, lanes). */
  readonly lane: number;
  /** Constructs one instance per seed and resets it. A failed instance has no id. */
  create(seeds: readonly number[]): Promise<readonly GuestResult<{ readonly instance: InstanceId } & ResetValue>[]>;
  reset(calls: readonly { readonly instance: InstanceId; readonly seed: number }[]): Promise<readonly GuestResult<ResetValue>[]>;
  step(calls: readonly { readonly instance: InstanceId; readonly action: string }[]): Promise<readonly GuestResult<StepValue>[]>;
  /** Actions that win from the current reset state; a bare string counts as one action. */
  solution(instances: readonly InstanceId[]): Promise<readonly GuestResult<readonly string[]>[]>;
  /** Frees instances; unknown ids are ignored. */
  release(instances: readonly InstanceId[]): Promise<void>;
  close(): Promise<void>;
}

/** Runs hostile programs in killable children. Host misuse throws `sandbox.*`; guest failures are values. */
export interface Sandbox {
  /** Number of children. */
  readonly lanes: number;
  /** Limits in force. */
  readonly limits: Limits;
  /** Loads a program into a child: the given lane, else the least loaded one. */
  open(program: Program, options?: { readonly lane?: number }): Promise<GuestResult<ProgramHandle>>;
  /** Kills and reaps every child. */
  close(): Promise<void>;
}
