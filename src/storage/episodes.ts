import type { Episode } from "../core/episode.ts";
import { invariant } from "../core/errors.ts";
import type { Segment, Trajectory } from "../core/trajectory.ts";
import type { RunStore } from "./run-store.ts";
import type { Row, TrajectoryOwner } from "./tables.ts";

/** The trajectories of one committed iteration that belong to `owner`, by owner id, exactly as they were sampled (invariant 1). */
export function readTrajectories(store: RunStore, iteration: number, owner: TrajectoryOwner): ReadonlyMap<string, Trajectory> {
  const byId = new Map<string, Row<"segments">[]>();
  for (const row of store.rows("segments", { iteration })) {
    if (row.owner !== owner) continue;
    const rows = byId.get(row.ownerId);
    if (rows === undefined) byId.set(row.ownerId, [row]);
    else rows.push(row);
  }
  return new Map([...byId].map(([id, rows]) => [id, trajectoryOf(rows)]));
}

/** The episodes of one committed iteration, with their trajectories. */
export function readEpisodes(store: RunStore, iteration: number): readonly Episode[] {
  const trajectories = readTrajectories(store, iteration, "episode");
  return [...store.rows("episodes", { iteration })].map(({ id, environmentId, arm, seed, play, outcome, turns }) => ({
    id,
    environmentId,
    arm,
    seed,
    play,
    outcome,
    turns,
    trajectory: trajectories.get(id) ?? { role: "agent", arm, segments: [] },
  }));
}

function trajectoryOf(rows: readonly Row<"segments">[]): Trajectory {
  const ordered = [...rows].sort((a, b) => a.position - b.position);
  const first = ordered[0];
  invariant(first !== undefined, "a stored trajectory has a segment");
  return { role: first.role, arm: first.arm, segments: ordered.map(segmentOf) };
}

function segmentOf({ kind, tokens, logprobs, policyVersion }: Row<"segments">): Segment {
  if (kind !== "sampled") return { kind, tokens };
  invariant(logprobs !== undefined && policyVersion !== undefined, "a sampled segment has log-probabilities and a policy version");
  return { kind, tokens, logprobs, policyVersion };
}
