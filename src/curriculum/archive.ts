import type { DesignExample } from "../core/environment.ts";
import { Rng } from "../core/seed.ts";

/** A past environment and what was measured of it. Plain JSON. */
export interface ArchiveEntry {
  /** Environment id, unique in the run. */
  readonly id: string;
  readonly skill: string;
  readonly source: string;
  /** Iteration in which it was designed. */
  readonly iteration: number;
  /** Iteration in which it was last played. */
  readonly lastPlayed: number;
  /** Completed plain episodes behind `winRate`. */
  readonly plays: number;
  /** In [0, 1]. */
  readonly winRate: number;
  /** Absent when it could not be measured. */
  readonly regret?: number;
  /** Unbiased mean per-seed p(1 - p); absent when it could not be measured. */
  readonly learnability?: number;
}

/** Which past environments are worth showing. */
export interface ExampleBands {
  /** Win rates of positive examples, both ends included. */
  readonly positiveBand: readonly [number, number];
  /** Iterations since a positive example was last played, at most; absent: no limit. */
  readonly positiveMaxAge?: number;
  readonly tooEasy: number;
  readonly tooHard: number;
}

/** Adds or updates entries by id; the environments designed longest ago leave first when there are more than `memorySize`. */
export function remember(archive: readonly ArchiveEntry[], entries: readonly ArchiveEntry[], memorySize: number): readonly ArchiveEntry[] {
  const byId = new Map(archive.map((entry) => [entry.id, entry]));
  for (const entry of entries) byId.set(entry.id, entry);
  const oldestFirst = [...byId.values()].sort((a, b) => a.iteration - b.iteration);
  return oldestFirst.slice(Math.max(0, oldestFirst.length - memorySize));
}

/**
 * Examples for a design task: positives are drawn from the better half, by regret, of the skill's environments within the positive band that
 * were played recently enough; negatives from its too easy and too hard ones. Environments of the task's skill only; fewer when the archive has fewer.
 */
export function selectExamples(
  archive: readonly ArchiveEntry[],
  request: { readonly skill: string; readonly iteration: number; readonly positives: number; readonly negatives: number; readonly seed: number },
  bands: ExampleBands,
): readonly (DesignExample & { readonly environmentId: string })[] {
  const rng = new Rng(request.seed);
  const [low, high] = bands.positiveBand;
  const oldest = request.iteration - (bands.positiveMaxAge ?? Infinity);
  const candidates = archive.filter((entry) => entry.skill === request.skill);
  const ranked = candidates
    .filter((entry) => entry.regret !== undefined && entry.winRate >= low && entry.winRate <= high && entry.lastPlayed >= oldest)
    .sort((a, b) => (b.regret ?? 0) - (a.regret ?? 0));
  const better = ranked.slice(0, Math.max(request.positives, Math.ceil(ranked.length / 2)));
  const bad = candidates.filter((entry) => entry.winRate > bands.tooEasy || entry.winRate < bands.tooHard);
  return [
    ...rng.sample(better, request.positives).map((entry) => example(entry, "good")),
    ...rng.sample(bad, request.negatives).map((entry) => example(entry, entry.winRate > bands.tooEasy ? "too easy" : "too hard")),
  ];
}

function example({ id, skill, source }: ArchiveEntry, verdict: DesignExample["verdict"]): DesignExample & { readonly environmentId: string } {
  return { environmentId: id, verdict, skill, source };
}

/**
 * Environments to replay when nothing was admitted: `count` distinct entries drawn in proportion to learnability (win rate's p(1 - p)
 * where it was not measured). A small floor lets every entry come back, so that mastered or impossible ones are measured again.
 */
export function selectReplay(archive: readonly ArchiveEntry[], count: number, seed: number): readonly ArchiveEntry[] {
  const rng = new Rng(seed);
  const pool = archive.map((entry) => ({ entry, weight: 0.01 + (entry.learnability ?? entry.winRate * (1 - entry.winRate)) }));
  const chosen: ArchiveEntry[] = [];
  while (chosen.length < count && pool.length > 0) {
    let rest = rng.float() * pool.reduce((sum, item) => sum + item.weight, 0);
    const found = pool.findIndex((item) => (rest -= item.weight) < 0);
    const [drawn] = pool.splice(found < 0 ? pool.length - 1 : found, 1);
    if (drawn !== undefined) chosen.push(drawn.entry);
  }
  return chosen;
}
