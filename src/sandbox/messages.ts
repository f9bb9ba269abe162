/** What parent and child say to each other. The child's side holds guest text and is validated by `replies.ts`. */

import type { Language } from "../core/environment.ts";

/** `fork` is answered by the child itself: it saves the state of the program the instance lives in. */
export type ItemOperation = "create" | "reset" | "step" | "solution" | "about" | "drop" | "fork";

/** One guest call on one instance. */
export interface Item {
  readonly op: ItemOperation;
  /** Id of the instance. */
  readonly slot: number;
  /** Seed or action. */
  readonly arg?: number | string;
  /** Number of the call in the instance's life, from 0: seeds its virtual clock and entropy. */
  readonly ordinal: number;
  /** What is left of the episode's fuel and time, where that is less than a call may use. */
  readonly fuel?: number;
  readonly wallMs?: number;
}

/** Limits the child enforces. */
export interface ChildLimits {
  readonly fuelPerCall: number;
  readonly wallMsPerCall: number;
  readonly maxObservationChars: number;
  readonly maxOutputBytes: number;
  readonly maxForkBytes: number;
}

export type Request =
  | { readonly kind: "load"; readonly program: number; readonly language: Language; readonly source: string }
  /** No item is begun after `sliceMs`. */
  | { readonly kind: "run"; readonly program: number; readonly items: readonly Item[]; readonly sliceMs: number }
  /** Makes `program` a copy of the loaded program `of` in a forked state (base64); refused when the state is of another image. */
  | { readonly kind: "restore"; readonly program: number; readonly of: number; readonly image: string; readonly state: string }
  | { readonly kind: "unload"; readonly program: number }
  /** Unloads all programs. */
  | { readonly kind: "clear" };

/** A request about one program. */
export type ProgramRequest = Exclude<Request, { readonly kind: "clear" }>;

/** One guest call's end: the guest's own reply (JSON text, hostile), or a trap that ended it from outside; and what it cost. */
export type Outcome = ({ readonly reply: string } | { readonly trap: { readonly code: string; readonly message: string } }) & {
  readonly fuel?: number;
  readonly wallMs?: number;
};

export interface Reply {
  /** One for each item that was run; fewer than asked for after a trap, at the end of the slice, or when the answer grew too long. */
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
