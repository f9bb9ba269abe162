import type { Environment } from "../core/environment.ts";
import type { Episode } from "../core/episode.ts";
import { invariant } from "../core/errors.ts";
import { pairedRegret } from "../credit/regret.ts";
import { collectReturns } from "../credit/returns.ts";
import type { RunStore } from "../storage/run-store.ts";
import type { CandidateRow, EnvironmentRow, IterationRows } from "./iteration-metrics.ts";

/** What is known of a stored program besides its source; written with the candidate. */
export interface StoredFacts {
  readonly entry: string;
  readonly skeleton: string;
  readonly family: string;
  readonly novel?: boolean;
  readonly stateVariables: number;
  readonly programTokens: number;
  /** Hashes by which later programs are compared with it; present when gate `novelty` was on. */
  readonly fingerprint?: { readonly program: readonly number[]; readonly text: readonly number[] };
}

/** Kind of the event that names the environments an iteration replayed from the archive. */
export const replayedEvent = "replayed";

/** Kind of the event that tells of a mutant judged beside the candidates; its data is a `JudgedMutant`. */
export const mutantEvent = "mutant";

/** What the gates said of a program with a planted fault. */
export interface JudgedMutant {
  /** The candidate that it was judged beside. */
  readonly beside: string;
  /** The admitted design that it was made of. */
  readonly of: string;
  /** Id of the mutation operator. */
  readonly operator: string;
  /** `equal` and `incomparable`: admitted, but not known to differ from its original; not scored. */
  readonly verdict: "rejected" | "admitted" | "equal" | "incomparable";
  /** The gate that rejected it, and its code. */
  readonly gate?: string;
  readonly code?: string;
}

/** The mutants of one committed iteration, or of all. */
export function judgedMutants(store: RunStore, iteration?: number): JudgedMutant[] {
  return [...store.rows("events", iteration === undefined ? undefined : { iteration })].filter(({ kind }) => kind === mutantEvent).map(({ data }) => data as JudgedMutant);
}

/** Reads the rows that one committed iteration's metrics are computed from; replayed environments are left out. */
export function readIterationRows(store: RunStore, iteration: number): IterationRows {
  const replayed = new Set([...store.rows("events", { iteration })].filter(({ kind }) => kind === replayedEvent).flatMap(({ data }) => (data as { environmentIds: string[] }).environmentIds));
  const episodes: Episode[] = [...store.rows("episodes", { iteration })].filter((row) => !replayed.has(row.environmentId)).map((row) => ({ ...row, trajectory: { role: "agent", arm: row.arm, segments: [] } }));
  const played = new Set(episodes.map((episode) => episode.environmentId));
  const candidates = [...store.rows("environments", { iteration })];
  const rejectedBy = new Map([...store.rows("gateResults", { iteration })].filter((row) => !row.passed).map((row) => [row.environmentId, row.gate]));
  const admitted = new Set(candidates.filter((row) => row.admitted).map((row) => row.id));
  return {
    candidates: candidates.map((row): CandidateRow => {
      const gate = rejectedBy.get(row.id);
      return { skill: row.skill, admitted: row.admitted, ...(gate === undefined ? {} : { rejectedBy: gate }) };
    }),
    environments: [...storedEnvironments(store)].filter((row) => played.has(row.id)).map(environmentRow),
    episodes,
    regrets: [...played].flatMap((environmentId) => {
      const returns = collectReturns(episodes.filter((episode) => episode.environmentId === environmentId));
      const estimate = pairedRegret(returns, { minEpisodesPerArm: 2, confidence: 0.95 });
      return estimate === undefined ? [] : [{ environmentId, regret: estimate.mean }];
    }),
    mutants: judgedMutants(store, iteration),
    designerRewards: [...store.rows("rewards", { iteration })].filter((row) => row.role === "designer" && (admitted.has(row.subjectId) || played.has(row.subjectId))).map((row) => row.reward),
  };
}

/** An admitted environment as the record holds it. */
export interface StoredEnvironment {
  readonly environment: Environment;
  readonly facts: StoredFacts;
  /** Iteration in which it was designed. */
  readonly iteration: number;
}

/** All admitted environments of a run, in order. */
export function* storedEnvironments(store: RunStore): Generator<StoredEnvironment & { readonly id: string }> {
  for (const row of store.rows("environments")) {
    const { id, iteration, skill, documentId, language, source, hint, trivialWinRate = 0, maxTurns = 1, facts } = row;
    if (!row.admitted) continue;
    invariant(language !== undefined && source !== undefined && facts !== undefined, `the admitted environment ${id} is stored with its program and facts`);
    const environment = { id, program: { language, source }, skill, documentId, trivialWinRate, maxTurns, ...(hint === undefined ? {} : { hint }) };
    yield { id, iteration, environment, facts: facts as unknown as StoredFacts };
  }
}

function environmentRow({ environment, facts }: StoredEnvironment): EnvironmentRow {
  const { skeleton, family, novel, stateVariables, programTokens } = facts;
  return { id: environment.id, skill: environment.skill, source: environment.program.source, skeleton, family, stateVariables, programTokens, ...(novel === undefined ? {} : { novel }) };
}
