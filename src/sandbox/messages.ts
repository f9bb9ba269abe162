/** What parent and child say to each other. The child's side holds guest text and is validated by `replies.ts`. */

import type { Language } from "../core/environment.ts";

export type ItemOperation = "create" | "reset" | "step" | "solution" | "drop";

/** One guest call on one instance. */
export interface Item {
  readonly op: ItemOperation;
  /** Id of the instance. */
  readonly slot: number;
  /** Seed or action. */
  readonly arg?: number | string;
  /** Number of the call in the instance's life, from 0: seeds its virtual clock and entropy. */
  readonly ordinal: number;
}

/** Limits the child enforces. */
export interface ChildLimits {
  readonly fuelPerCall: number;
  readonly wallMsPerCall: number;
  readonly maxObservationChars: number;
  readonly maxOutputBytes: number;
}

export type Request =
  | { readonly kind: "load"; readonly program: number; readonly language: Language; readonly source: string }
  | { readonly kind: "run"; readonly program: number; readonly items: readonly Item[] }
  | { readonly kind: "unload"; readonly program: number };

/** One guest call's end: the guest's own reply (JSON text, hostile), or a trap that ended it from outside. */
export type Outcome = { readonly reply: string } | { readonly trap: { readonly code: string; readonly message: string } };

export interface Reply {
  /** One for each item that was run; fewer than asked for after a trap or when the answer grew too long. */
  readonly outcomes: readonly Outcome[];
  /** All instances of the program are gone (it was restored after a trap). */
  readonly lost: boolean;
  /** Programs dropped to make room; they must be loaded again. */
  readonly evicted: readonly number[];
  /** Bytes of interpreter memory, of the process, and time spent switching programs. */
  readonly guestBytes: number;
  readonly residentBytes: number;
  readonly switchMs: number;
  /** The child must be replaced: something in it is broken for good. */
  readonly isSpent?: boolean;
}

/** First frame of a child. */
export interface Ready {
  readonly ready: true;
  readonly startMs: number;
}
