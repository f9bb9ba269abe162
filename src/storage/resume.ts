import type { SpadeError } from "../core/errors.ts";
import { findCheckpoint, removeLeftovers } from "./checkpoints.ts";
import type { Checkpoint } from "./checkpoints.ts";
import type { RunStore } from "./run-store.ts";

/** Where a run goes on. */
export interface ResumePoint {
  /** State to load; absent: start from the initial model. */
  readonly checkpoint?: Checkpoint;
  /** The iteration to begin next. */
  readonly nextIteration: number;
  /** Damaged checkpoints passed over, newest first; to be shown. */
  readonly damaged: readonly SpadeError[];
}

/**
 * Brings record and checkpoints to one state: removes what crashes left, finds the newest usable checkpoint that the record knows, and
 * rewinds the record to it when the record is ahead. The state to go on from is then that of `nextIteration - 1`.
 * @throws storage.write
 */
export async function resumePoint(store: RunStore): Promise<ResumePoint> {
  removeLeftovers(store.directory);
  const last = store.lastIteration() ?? -1;
  const { checkpoint, damaged } = await findCheckpoint(store.directory, last);
  const iteration = checkpoint?.iteration ?? -1;
  if (iteration < last) store.rewind(iteration);
  return { ...(checkpoint === undefined ? {} : { checkpoint }), nextIteration: iteration + 1, damaged };
}
