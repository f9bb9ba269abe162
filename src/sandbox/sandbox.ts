import type { ActionForm, Program } from "../core/environment.ts";
import type { ParseReport } from "../core/episode.ts";

/** Why guest code failed: a value, never an exception of the host. */
export type GuestFailureCode = "parse" | "raise" | "timeout" | "fuel" | "episode-timeout" | "episode-fuel" | "memory" | "output" | "exit" | "protocol" | "denied";

export interface GuestFailure {
  readonly code: GuestFailureCode;
  readonly message: string;
}

export type GuestResult<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: GuestFailure };

/** Every limit of the sandbox, with what happens past it; `defaultLimits` has the defaults. */
export interface Limits {
  /** Deterministic budget of interpreter ticks per call (failure `fuel`). */
  readonly fuelPerCall: number;
  /** Fuel of an instance from one reset to the next (failure `episode-fuel`). */
  readonly fuelPerEpisode: number;
  /** Wall clock of one call; past it the call is ended, or the child killed and reaped (failure `timeout`). */
  readonly wallMsPerCall: number;
  /** Wall clock of an instance's own calls from one reset to the next, waiting excluded (failure `episode-timeout`). */
  readonly wallMsPerEpisode: number;
  /** One turn of a set of episodes: waiting, the start of a child and all calls (error `sandbox.deadline`). */
  readonly wallMsPerTurn: number;
  /** Start of a child (error `sandbox.child-start`). */
  readonly wallMsPerStart: number;
  /** Growth of the interpreter's memory over the base image (failure `memory`). */
  readonly memoryLimitBytes: number;
  /** Characters of one action (error `sandbox.action-too-large`). */
  readonly maxActionChars: number;
  /** Characters of one observation (failure `output`). */
  readonly maxObservationChars: number;
  /** Bytes of one batched answer (failure `output`). */
  readonly maxOutputBytes: number;
  /** Live instances per program (error `sandbox.too-many-instances`). */
  readonly maxInstances: number;
  /** Compressed bytes of one fork's state; a larger one is restored by replay. */
  readonly maxForkBytes: number;
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
  /** What a tool-use program could and could not read of the action (`info.parse`), of bounded size. */
  readonly parse?: ParseReport;
}

/** What a program says of itself in its present state. */
export interface About {
  /** Of `hint()`; absent where the program has none. */
  readonly hint?: string;
  /** Schemas of `get_tools()` (Python) or `tools()` (TypeScript); absent where the program has none. */
  readonly tools?: readonly Readonly<Record<string, unknown>>[];
}

/** Facts about a loaded program, read without running an episode. */
export interface ProgramFacts {
  /** Name of the entry class, found by protocol. */
  readonly entry: string;
  readonly hasSolution: boolean;
  /** `tools` when the entry class derives from the runtime library's base of tool-use programs. */
  readonly actionForm: ActionForm;
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

/** A call that an instance has had. */
export interface PastCall {
  readonly op: "create" | "reset" | "step" | "solution" | "about";
  /** Seed or action. */
  readonly arg?: number | string;
}

/** What an episode has used since its last reset. */
export interface Spent {
  readonly fuel: number;
  readonly wallMs: number;
}

/** An instance at one moment. Plain data: it can be stored and restored in any child, lane or sandbox that has the program. */
export interface Fork {
  readonly programId: string;
  /** The portable form: all calls of the instance's life, in order. */
  readonly calls: readonly PastCall[];
  readonly spent: Spent;
  /** The exact form, in the runtime's own format; absent when it was larger than `maxForkBytes`. */
  readonly state?: ForkState;
}

export interface ForkState {
  /** Digest of the program image that the state builds on. */
  readonly image: string;
  /** Id that the instance has inside the state. */
  readonly slot: number;
  /** Base64. */
  readonly bytes: string;
}

/** Options of calls on instances. */
export interface CallOptions {
  /** On `core/clock.ts`' monotonic clock: calls not answered by then reject with `sandbox.deadline`. Waiting and start-up count. */
  readonly deadlineMs?: number;
}

/** A loaded program in one child. Calls on one handle run in the order they were made. */
export interface ProgramHandle {
  readonly facts: ProgramFacts;
  /** Index of the lane it was opened in, in [0, lanes). */
  readonly lane: number;
  /** Constructs one instance per seed and resets it. A failed instance has no id. */
  create(seeds: readonly number[], options?: CallOptions): Promise<readonly GuestResult<{ readonly instance: InstanceId } & ResetValue>[]>;
  reset(calls: readonly { readonly instance: InstanceId; readonly seed: number }[], options?: CallOptions): Promise<readonly GuestResult<ResetValue>[]>;
  step(calls: readonly { readonly instance: InstanceId; readonly action: string }[], options?: CallOptions): Promise<readonly GuestResult<StepValue>[]>;
  /** Actions that win from the current reset state; a bare string counts as one action. */
  solution(instances: readonly InstanceId[], options?: CallOptions): Promise<readonly GuestResult<readonly string[]>[]>;
  /** Hint and tools in the present state. */
  about(instances: readonly InstanceId[], options?: CallOptions): Promise<readonly GuestResult<About>[]>;
  /** What the instance's episode has used so far, by the calls that have been answered. @throws sandbox.unknown-instance */
  spent(instance: InstanceId): Spent;
  /** The instance as it is now; it can go on. Further play of what is restored from it is the same, byte for byte. */
  fork(instance: InstanceId): Promise<GuestResult<Fork>>;
  /**
   * A new instance in a fork's state; the exact state is used where this child has the same program image, else seed and
   * actions are replayed at the first call. @throws sandbox.fork when the fork is of another program
   */
  restore(fork: Fork): Promise<InstanceId>;
  /** Frees instances; unknown ids are ignored. */
  release(instances: readonly InstanceId[]): Promise<void>;
  close(): Promise<void>;
}

/** Options of opening a program. */
export interface OpenOptions {
  /** Default: the least loaded one. */
  readonly lane?: number;
  /** Its calls go before those of other programs in its lane. Default: false. */
  readonly urgent?: boolean;
}

/** Runs hostile programs in killable children. Host misuse throws `sandbox.*`; guest failures are values. */
export interface Sandbox {
  /** Number of children. */
  readonly lanes: number;
  /** Limits in force. */
  readonly limits: Limits;
  /** Loads a program into a child. */
  open(program: Program, options?: OpenOptions): Promise<GuestResult<ProgramHandle>>;
  /** Kills and reaps every child. */
  close(): Promise<void>;
}

/** The same sandbox, in which every program that is opened is urgent. */
export function urgently(sandbox: Sandbox): Sandbox {
  const { lanes, limits } = sandbox;
  return { lanes, limits, open: (program, options) => sandbox.open(program, { ...options, urgent: true }), close: () => sandbox.close() };
}
