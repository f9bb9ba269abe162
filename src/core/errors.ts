/** The boundary at which an error arose; the first part of every error code. */
export type Boundary = "config" | "storage" | "corpus" | "sandbox" | "engine" | "chat" | "http" | "policy" | "gate" | "rollout" | "usage" | "internal";

export interface SpadeErrorOptions {
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/**
 * The one root of all errors this project throws. `code` is stable and reads `<boundary>.<kind>`; the message says
 * what failed, the offending value, what was expected and what to do.
 */
export class SpadeError extends Error {
  readonly code: `${Boundary}.${string}`;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: `${Boundary}.${string}`, message: string, options: SpadeErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "SpadeError";
    this.code = code;
    this.details = options.details ?? {};
  }

  get boundary(): string {
    return this.code.slice(0, this.code.indexOf("."));
  }
}

/** Throws `internal.invariant` unless `condition` holds: a broken invariant is a crash, never a record. */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new SpadeError("internal.invariant", `Broken invariant: ${message}. This is a bug in spade-rl; please report it.`);
}

/** Message of any thrown value, for use in another message. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
