import { SpadeError } from "../core/errors.ts";
import type { Limits } from "./sandbox.ts";

/**
 * Limits where none are given. A tick of fuel is one visit of the interpreter's budget check, about 3 µs of plain Python:
 * the default is worth about two seconds.
 */
export const defaultLimits: Limits = Object.freeze({
  fuelPerCall: 500_000,
  fuelPerEpisode: 10_000_000,
  wallMsPerCall: 5000,
  wallMsPerEpisode: 60_000,
  wallMsPerTurn: 600_000,
  wallMsPerStart: 60_000,
  memoryLimitBytes: 128 * 2 ** 20,
  maxActionChars: 65_536,
  maxObservationChars: 16_384,
  maxOutputBytes: 2 * 2 ** 20,
  maxInstances: 4096,
  maxForkBytes: 4 * 2 ** 20,
});

/** Time the parent waits beyond the child's own wall limit before it kills. */
export const killGraceMs = 400;

/** A child whose interpreter has grown by more than this is replaced after the call: its memory never shrinks. */
export const recycleGrowthBytes = 48 * 2 ** 20;

/** Resident memory beyond the guest's limit at which a child is killed or replaced: the interpreter and parked programs. */
export const residentOverheadBytes = 1024 * 2 ** 20;

/** Programs a child loads before it is replaced. */
export const recyclePrograms = 1000;

/** A child begins no further call of a request after this time, and a lane gives way to another program that waits. */
export const sliceMs = 50;

/**
 * A call gives its lane up when it has used this much processor time while others wait, a load this much; more where longer ones
 * are known of the program. Less would drive out programs that do nothing unusual, and those that wait must be loaded anew.
 */
export const callPatienceMs = 50;
export const loadPatienceMs = 200;

/** A program with a call that took longer than this share of `wallMsPerCall` moves to the lane of slow programs. */
export const slowCallShare = 0.2;

/**
 * How far the children of slow programs give way: with two other busy processes on two cores, one with this niceness gets a fifth of them on Linux, and
 * a third without. More would let a program that is only slow run into its wall limits.
 */
export const slowNiceness = 5;

/** Programs of which a sandbox remembers how long their calls take. */
export const maxKnownPrograms = 10_000;

/** After this many calls that ran into fuel or wall limits, a program is not run again. */
export const maxSlowFailures = 4;

/** Longest program (error `sandbox.too-large`). */
export const maxProgramBytes = 2 ** 20;

/** A request takes no more calls once it has this many characters of arguments. */
export const maxRequestChars = 4 * 2 ** 20;

/** Fills in defaults. @throws sandbox.limits when a limit is not a positive integer. */
export function resolveLimits(limits: Partial<Limits> = {}): Limits {
  const resolved = { ...defaultLimits, ...limits };
  for (const [name, value] of Object.entries(resolved)) {
    if (!Number.isSafeInteger(value) || value <= 0) {
      throw new SpadeError("sandbox.limits", `Limit ${name} is ${String(value)}; expected a positive integer. Leave it out to use the default.`);
    }
  }
  return Object.freeze(resolved);
}
