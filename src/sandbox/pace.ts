import { callPatienceMs, loadPatienceMs, maxSlowFailures, slowCallShare } from "./limits.ts";
import type { GuestFailure, Limits } from "./sandbox.ts";

const slowCodes: ReadonlySet<string> = new Set(["fuel", "timeout", "episode-fuel", "episode-timeout"]);
/** Failures that a program has for want of skill, if they come quickly; the others cost more than a call should, or are an attempt. */
const ordinaryCodes: ReadonlySet<string> = new Set(["raise", "parse"]);

/** What is known of a program, however often it is opened. */
export interface KnownPace {
  /** Belongs into the lane of slow programs: a call of it was slow, was ended from outside, or failed late or by more than raising. */
  isSlow: boolean;
  loadMs: number;
  longestMs: number;
}

/** A program of which nothing is known. */
export function unknownPace(): KnownPace {
  return { isSlow: false, loadMs: 0, longestMs: 0 };
}

/** How long the calls of an open program take, and what follows from it. */
export class Pace {
  private readonly limits: Limits;
  private readonly known: KnownPace;
  /** Of this opening only: what a program answers must not depend on earlier ones. */
  private slowFailures = 0;

  constructor(limits: Limits, known: KnownPace) {
    this.limits = limits;
    this.known = known;
  }

  get isSlow(): boolean {
    return this.known.isSlow;
  }

  /** Processor time that the next load or call may take while others wait: one hardly longer than an earlier one is nothing unusual. */
  patienceMs(what: "load" | "call"): number {
    return what === "load" ? Math.max(loadPatienceMs, 2 * this.known.loadMs) : Math.max(callPatienceMs, 2 * this.known.longestMs);
  }

  loaded(wallMs: number): void {
    this.known.loadMs = wallMs;
  }

  called(wallMs: number): void {
    this.known.longestMs = Math.max(this.known.longestMs, wallMs);
    if (wallMs > slowCallShare * this.limits.wallMsPerCall) this.known.isSlow = true;
  }

  /** Takes note of a failure that the guest told itself. */
  refused({ code }: GuestFailure, wallMs: number): void {
    if (!ordinaryCodes.has(code) || wallMs > callPatienceMs) this.known.isSlow = true;
  }

  /** Takes note of a call that was ended from outside; the failure of all further ones if it is one too many. */
  failed({ code, message }: GuestFailure): GuestFailure | undefined {
    this.known.isSlow = true;
    if (!slowCodes.has(code) || ++this.slowFailures < maxSlowFailures) return undefined;
    return { code, message: `${message}; the program is not run again after ${maxSlowFailures} such calls` };
  }
}
