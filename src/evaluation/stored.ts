import { type Episode, episodeReturn, isWin } from "../core/episode.ts";
import { deriveSeed } from "../core/seed.ts";
import { mean } from "../credit/statistics.ts";
import type { IterationWriter } from "../storage/iteration-writer.ts";
import type { RunStore } from "../storage/run-store.ts";
import type { Row } from "../storage/tables.ts";
import type { Rate } from "./evaluate.ts";
import { bootstrap, meanOfMeans } from "./intervals.ts";

/** A suite's score at one iteration of a run, computed from the stored episodes. */
export interface StoredScore {
  readonly iteration: number;
  readonly suite: string;
  readonly mode: "sampled" | "greedy";
  readonly rate: Rate;
}

/** Appends the episodes of an evaluation. */
export function recordEvaluation(writer: IterationWriter, evaluation: { readonly suite: string; readonly mode: "sampled" | "greedy"; readonly policyVersion: number }, episodes: readonly Episode[]): void {
  writer.add(
    "evaluations",
    ...episodes.map(({ id, environmentId, seed, play, outcome, turns }) => ({ ...evaluation, id, programId: environmentId, seed, play, outcome, turns })),
  );
}

/** All scores of a run, in order of iteration. Programs weigh the same; the interval is a bootstrap over programs and seeds. */
export function readScores(store: RunStore): StoredScore[] {
  const groups = Map.groupBy(store.rows("evaluations"), ({ iteration, suite, mode }) => JSON.stringify([iteration, suite, mode]));
  return [...groups].flatMap(([, rows]) => {
    const first = rows[0];
    return first === undefined ? [] : [{ iteration: first.iteration, suite: first.suite, mode: first.mode, rate: rateOf(rows) }];
  });
}

function rateOf(rows: readonly Row<"evaluations">[]): Rate {
  const completed = rows.flatMap((row) => {
    const value = episodeReturn(row.outcome);
    return value === undefined ? [] : [{ programId: row.programId, seed: row.seed, won: Number(isWin(value)) }];
  });
  const counts = { episodes: completed.length, wins: completed.filter(({ won }) => won === 1).length, failed: rows.length - completed.length };
  const byProgram = [...Map.groupBy(completed, ({ programId }) => programId).values()];
  const cells = byProgram.map((own) => [...Map.groupBy(own, ({ seed }) => seed).values()].map((plays) => mean(plays.map(({ won }) => won))));
  if (cells.length === 0) return counts;
  return { winRate: meanOfMeans(cells), interval: bootstrap(cells, deriveSeed(0, "bootstrap")), ...counts };
}
