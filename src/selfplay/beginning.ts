import { type StoredEnvironment, storedEnvironments } from "../report/run-rows.ts";
import type { Dependencies } from "./dependencies.ts";
import type { LoopState } from "./state.ts";

/** Programs that an iteration was the first to judge. */
export interface Judged {
  readonly admitted: readonly StoredEnvironment[];
  /** Ids of the others. */
  readonly rejected: readonly string[];
}

export const nothingJudged: Judged = { admitted: [], rejected: [] };

/** What an iteration begins from. */
export interface Beginning {
  readonly iteration: number;
  readonly state: LoopState;
  /** What the iteration before judged, where it is not committed yet. */
  readonly uncommitted: Judged;
}

/** Environments of earlier iterations, in order. */
export function* knownEnvironments({ uncommitted }: Beginning, { store }: Dependencies): Generator<StoredEnvironment> {
  const seen = new Set<string>();
  for (const stored of [...storedEnvironments(store), ...uncommitted.admitted]) {
    if (seen.has(stored.environment.id)) continue;
    seen.add(stored.environment.id);
    yield stored;
  }
}
