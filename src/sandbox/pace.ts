import { callPatienceMs, loadPatienceMs, maxSlowFailures, slowCallShare } from "./limits.ts";
import type { GuestFailure, Limits } from "./sandbox.ts";

const slowCodes: ReadonlySet<string> = new Set(["fuel", "timeout", "episode-fuel", "episode-timeout"]);

/** How long the calls of a program take, and what follows from it. */
export class Pace {
  /** Belongs into the lane of slow programs, for good. */
  isSlow = false;
  private readonly limits: Limits;
  private loadMs = 0;
  private longestMs = 0;
  private slowFailures = 0;

  constructor(limits: Limits) {
    this.limits = limits;
  }

  /** Processor time that the next load or call may take while others wait: one hardly longer than an earlier one is nothing unusual. */
  patienceMs(what: "load" | "call"): number {
    return what === "load" ? Math.max(loadPatienceMs, 2 * this.loadMs) : Math.max(callPatienceMs, 2 * this.longestMs);
  }

  loaded(wallMs: number): void {
    this.loadMs = wallMs;
  }

  called(wallMs: number): void {
    this.longestMs = Math.max(this.longestMs, wallMs);
    if (wallMs > slowCallShare * this.limits.wallMsPerCall) this.isSlow = true;
  }

  /** Takes note of a failed call; the failure of all further ones if it is one too many. */
  failed({ code, message }: GuestFailure): GuestFailure | undefined {
    if (!slowCodes.has(code)) return undefined;
    this.isSlow = true;
    if (++this.slowFailures < maxSlowFailures) return undefined;
    return { code, message: `${message}; the program is not run again after ${maxSlowFailures} such calls` };
  }
}
