import { isWin, type Episode, episodeReturn } from "../core/episode.ts";
import type { Arm } from "../core/role.ts";
import { diversity } from "./diversity.ts";
import { meanEstimate, type Estimate } from "./interval.ts";

/** What the metrics of one iteration are computed from: rows of the record, nothing else. */
export interface IterationRows {
  readonly candidates: readonly CandidateRow[];
  /** Environments played in this iteration, admitted now or earlier. */
  readonly environments: readonly EnvironmentRow[];
  readonly episodes: readonly Episode[];
  /** Regret per environment that had enough completed episodes in both arms. */
  readonly regrets: readonly { readonly environmentId: string; readonly regret: number }[];
  readonly designerRewards: readonly number[];
  /** Verdicts on mutants that were judged beside the candidates. */
  readonly mutants: readonly { readonly verdict: "rejected" | "admitted" | "equal" | "incomparable" }[];
}

export interface CandidateRow {
  readonly skill: string;
  readonly admitted: boolean;
  /** Gate that rejected it. */
  readonly rejectedBy?: string;
}

export interface EnvironmentRow {
  readonly id: string;
  readonly skill: string;
  readonly source: string;
  /** Digest of the normalised syntax tree. */
  readonly skeleton: string;
  /** Whether a demonstration of the warm start has the same normalised syntax tree; absent when unknown. */
  readonly novel?: boolean;
  readonly family: string;
  readonly stateVariables: number;
  readonly programTokens: number;
}

/** Metrics of one iteration (algorithm, section 7). A missing field was not measurable; it is never 0. */
export interface IterationMetrics {
  readonly candidates: number;
  readonly admitted: number;
  readonly admittedShare?: number;
  /** Rejections by gate. */
  readonly gateFunnel: Readonly<Record<string, number>>;
  /** Mutants judged beside the candidates that differ from their originals, and those of them that were admitted; absent when there were none. */
  readonly mutants?: number;
  readonly mutantsAdmitted?: number;
  readonly rPlain?: number;
  readonly rHint?: number;
  readonly regret?: Estimate;
  readonly winRate?: number;
  /** Share of environments with a plain win rate in [0.2, 0.8], above 0.8 and below 0.2. */
  readonly learnableShare?: number;
  readonly tooEasyShare?: number;
  readonly tooHardShare?: number;
  readonly designerReward?: number;
  readonly families: number;
  readonly skills: number;
  readonly novelShare?: number;
  readonly vendi?: number;
  readonly meanPairwiseDistance?: number;
  readonly programChars?: number;
  readonly programTokens?: number;
  readonly stateVariables?: number;
  readonly turns?: number;
  readonly responseChars?: number;
  readonly voidShare?: number;
  readonly rewardLevels?: number;
}

/** Computes the metrics of one iteration. Pure. */
export function iterationMetrics(rows: IterationRows): IterationMetrics {
  const plain = rows.episodes.filter((episode) => episode.arm === "plain");
  const winRates = rows.environments.map((environment) => winRate(plain.filter((episode) => episode.environmentId === environment.id)));
  const known = winRates.filter((rate) => rate !== undefined);
  const share = (test: (rate: number) => boolean): number | undefined => mean(known.map((rate) => Number(test(rate))));
  const spread = diversity(rows.environments.map((environment) => environment.source));
  const novelty = rows.environments.map((environment) => environment.novel).filter((novel) => novel !== undefined);
  const mutants = rows.mutants.filter(({ verdict }) => verdict === "rejected" || verdict === "admitted");
  const column = (pick: (environment: EnvironmentRow) => number): number | undefined => mean(rows.environments.map(pick));
  return dropAbsent({
    candidates: rows.candidates.length,
    admitted: rows.candidates.filter((candidate) => candidate.admitted).length,
    admittedShare: mean(rows.candidates.map((candidate) => Number(candidate.admitted))),
    gateFunnel: countBy(rows.candidates.map((candidate) => candidate.rejectedBy).filter((gate) => gate !== undefined)),
    mutants: mutants.length === 0 ? undefined : mutants.length,
    mutantsAdmitted: mutants.length === 0 ? undefined : mutants.filter(({ verdict }) => verdict === "admitted").length,
    rPlain: meanReturn(rows.episodes, "plain"),
    rHint: meanReturn(rows.episodes, "hint"),
    regret: meanEstimate(rows.regrets.map((row) => row.regret)),
    winRate: mean(known),
    learnableShare: share((rate) => rate >= 0.2 && rate <= 0.8),
    tooEasyShare: share((rate) => rate > 0.8),
    tooHardShare: share((rate) => rate < 0.2),
    designerReward: mean(rows.designerRewards),
    families: new Set(rows.environments.map((environment) => environment.family)).size,
    skills: new Set(rows.environments.map((environment) => environment.skill)).size,
    novelShare: mean(novelty.map(Number)),
    vendi: spread?.vendi,
    meanPairwiseDistance: spread?.meanPairwiseDistance,
    programChars: column((environment) => environment.source.length),
    programTokens: column((environment) => environment.programTokens),
    stateVariables: column((environment) => environment.stateVariables),
    turns: mean(rows.episodes.map((episode) => episode.turns.length)),
    responseChars: mean(rows.episodes.flatMap((episode) => episode.turns.map((turn) => turn.response.length))),
    voidShare: mean(rows.episodes.map((episode) => Number(episode.outcome.kind === "failed"))),
    rewardLevels: mean(rows.environments.map((environment) => levels(rows.episodes, environment.id))),
  });
}

/** Share of wins among completed episodes; absent when none completed. */
export function winRate(episodes: readonly Episode[]): number | undefined {
  return mean(completedReturns(episodes).map((value) => Number(isWin(value))));
}

function meanReturn(episodes: readonly Episode[], arm: Arm): number | undefined {
  return mean(completedReturns(episodes.filter((episode) => episode.arm === arm)));
}

function completedReturns(episodes: readonly Episode[]): number[] {
  return episodes.map((episode) => episodeReturn(episode.outcome)).filter((value) => value !== undefined);
}

function levels(episodes: readonly Episode[], environmentId: string): number {
  return new Set(completedReturns(episodes.filter((episode) => episode.environmentId === environmentId))).size;
}

/** Arithmetic mean; absent when empty. */
export function mean(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function countBy(keys: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const key of [...keys].sort()) counts[key] = (counts[key] ?? 0) + 1;
  return counts;
}

function dropAbsent(record: { [K in keyof IterationMetrics]-?: IterationMetrics[K] | undefined }): IterationMetrics {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as unknown as IterationMetrics;
}
