import { invariant } from "./errors.ts";
import type { Arm, Role } from "./role.ts";

/** Tokens the policy was given: a prompt, which starts a row, or an observation, which goes on with it. Never trained on. */
export interface ContextSegment {
  readonly kind: "prompt" | "observation";
  /** Shape [T]. */
  readonly tokens: Int32Array;
}

/** Tokens the policy sampled, exactly as the sampler returned them (invariant 1). */
export interface SampledSegment {
  readonly kind: "sampled";
  /** Shape [T]. */
  readonly tokens: Int32Array;
  /** Shape [T]; natural logarithms under the distribution the loss uses. */
  readonly logprobs: Float32Array;
  readonly policyVersion: number;
}

export type Segment = ContextSegment | SampledSegment;

/**
 * What was given and what was sampled, in order. Each prompt starts a row of tokens; there are several rows only where a chat
 * template rewrote what it had rendered before.
 */
export interface Trajectory<A extends Arm = Arm> {
  readonly role: Role;
  readonly arm: A;
  readonly segments: readonly Segment[];
}

/** The only trajectories a training batch accepts, row by row (invariant 7). */
export type TrainableTrajectory = Trajectory<"plain">;

/** A trajectory laid out for a loss. All arrays have shape [T]. */
export interface FlatTrajectory {
  readonly tokens: Int32Array;
  /** 1 where a token was sampled, else 0: derived from the segments' kinds, never stored (invariant 2). */
  readonly mask: Uint8Array;
  /** The sampler's log-probability where `mask` is 1, else 0. */
  readonly logprobs: Float32Array;
}

/** Appends a segment; returns a new trajectory. Takes tokens, never text (invariant 1). */
export function append<A extends Arm>(trajectory: Trajectory<A>, segment: Segment): Trajectory<A> {
  if (segment.kind === "sampled") {
    invariant(segment.tokens.length === segment.logprobs.length, "a sampled segment has one log-probability per token");
  }
  return { ...trajectory, segments: [...trajectory.segments, segment] };
}

/** Number of tokens in all segments. */
export function tokenCount(trajectory: Trajectory): number {
  return trajectory.segments.reduce((sum, segment) => sum + segment.tokens.length, 0);
}

/** The rows of a trajectory: every sampled token is in exactly one of them. */
export function rowsOf<A extends Arm>(trajectory: Trajectory<A>): readonly Trajectory<A>[] {
  const starts = trajectory.segments.flatMap((segment, i) => (i === 0 || segment.kind === "prompt" ? [i] : []));
  return starts.map((start, i) => ({ ...trajectory, segments: trajectory.segments.slice(start, starts[i + 1]) }));
}

/** The row that the next segment goes on with; the trajectory itself while it is empty. */
export function lastRow<A extends Arm>(trajectory: Trajectory<A>): Trajectory<A> {
  return rowsOf(trajectory).at(-1) ?? trajectory;
}

/** Lays the segments of one row end to end. */
export function flatten(trajectory: Trajectory): FlatTrajectory {
  invariant(!trajectory.segments.some(({ kind }, i) => kind === "prompt" && i > 0), "a row has one prompt, at its start");
  const length = tokenCount(trajectory);
  const tokens = new Int32Array(length);
  const mask = new Uint8Array(length);
  const logprobs = new Float32Array(length);
  let offset = 0;
  for (const segment of trajectory.segments) {
    tokens.set(segment.tokens, offset);
    if (segment.kind === "sampled") {
      mask.fill(1, offset, offset + segment.tokens.length);
      logprobs.set(segment.logprobs, offset);
    }
    offset += segment.tokens.length;
  }
  return { tokens, mask, logprobs };
}
