/**
 * One table over several runs of a preset (one per seed): every measure's first and last fifth, and the change of each
 * suite's win rate from before to after training with a 95 % interval over run seeds and programs.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { decimal, pair, table } from "../src/cli/format.ts";
import { runReport, type RunReport } from "../src/cli/summary.ts";
import { episodeReturn, isWin } from "../src/core/episode.ts";
import { SpadeError } from "../src/core/errors.ts";
import { Rng } from "../src/core/seed.ts";
import type { Evaluation } from "../src/evaluation/evaluate.ts";
import { mean } from "../src/report/iteration-metrics.ts";
import { RunStore } from "../src/storage/run-store.ts";

const help = `Usage: node bench/main.ts study RUN [RUN…] [--json]
       node bench/main.ts study --before FILE --after FILE [--after FILE …] [--json]
Compares the first with the last fifth of runs that differ in their seed only; or, for a suite that the runs did not measure themselves,
what spade evaluate --json said of the untrained model and of each run's last checkpoint.`;

interface Change {
  readonly suite: string;
  readonly before: number;
  readonly after: number;
  readonly change: number;
  readonly interval: readonly [number, number];
  readonly episodes: number;
}

/** Prints the table. */
export function run(words: readonly string[]): void {
  const { values, positionals } = parseArgs({ args: [...words], allowPositionals: true, options: { json: { type: "boolean" }, help: { type: "boolean" }, before: { type: "string" }, after: { type: "string", multiple: true } } });
  const evaluated = values.before !== undefined && values.after !== undefined;
  if (values.help === true || positionals.length > 0 === evaluated) {
    console.log(help);
    return;
  }
  if (values.before !== undefined && values.after !== undefined) {
    const changes = [evaluatedChange(values.before, values.after)];
    console.log(values.json === true ? JSON.stringify({ changes }, null, 2) : changeTable(changes));
    return;
  }
  const reports = positionals.map((directory) => runReport(directory, 0));
  const measures = (reports[0]?.fifths ?? []).map(({ measure }) => ({ measure, first: column(reports, measure, "first"), last: column(reports, measure, "last") }));
  const changes = suiteChanges(positionals);
  if (values.json === true) {
    console.log(JSON.stringify({ runs: positionals, measures, changes }, null, 2));
    return;
  }
  const perRun = (cells: readonly (number | undefined)[]): string => `${decimal(average(cells))} (${cells.map((cell) => decimal(cell)).join(", ")})`;
  console.log(table([["measure", "first fifth: mean (runs)", "last fifth: mean (runs)"], ...measures.map(({ measure, first, last }) => [measure, perRun(first), perRun(last)])]));
  console.log();
  console.log(changeTable(changes));
}

function changeTable(changes: readonly Change[]): string {
  return table([["win rate", "before", "after", "change", "95 % interval", "episodes each"], ...changes.map((row) => [row.suite, decimal(row.before, 3), decimal(row.after, 3), decimal(row.change, 3), pair(row.interval), String(row.episodes)])]);
}

/** The last evaluation of a file that `spade evaluate --json` wrote. */
function evaluationIn(path: string): Evaluation {
  const last = (JSON.parse(readFileSync(path, "utf8")) as { readonly evaluation: Evaluation }[]).at(-1);
  if (last === undefined) throw new SpadeError("usage.study", `${path} holds no evaluation. Make it with: spade evaluate <run or model directory> --json`);
  return last.evaluation;
}

/** Change of the win rate from one evaluation to those of several runs on the same suite, mode and seeds. */
function evaluatedChange(before: string, after: readonly string[]): Change {
  const start = evaluationIn(before);
  const ends = after.map((path) => {
    const end = evaluationIn(path);
    const [expected, got] = [start, end].map(({ suiteDigest, mode, seeds }) => JSON.stringify([suiteDigest, mode, seeds]));
    if (got !== expected) throw new SpadeError("usage.study", `${path} measures another suite, mode or set of seeds than ${before}. Evaluate both with the same options.`);
    return end;
  });
  const grid = ends.map(({ programs }) => programs.flatMap(({ winRate }, i) => bothSides(start.programs[i]?.winRate, winRate)));
  const episodes = ends.reduce((sum, { programs }) => sum + programs.reduce((own, program) => own + program.episodes, 0), 0);
  return changeOf(`${start.suite} ${start.mode}`, grid, episodes);
}

function column(reports: readonly RunReport[], measure: string, part: "first" | "last"): (number | undefined)[] {
  return reports.map((report) => report.fifths.find((row) => row.measure === measure)?.[part]?.mean);
}

function average(values: readonly (number | undefined)[]): number | undefined {
  return mean(values.filter((value) => value !== undefined));
}

/** Win rate per suite and program, [before, after]. */
type Cells = Map<string, Map<string, { readonly before: number[]; readonly after: number[] }>>;

function suiteChanges(directories: readonly string[]): Change[] {
  const runs = directories.map(cellsOf);
  return [...(runs[0]?.keys() ?? [])].map((suite) => {
    const grid = runs.map((cells) => [...(cells.get(suite)?.values() ?? [])].flatMap((cell) => bothSides(average(cell.before), average(cell.after))));
    const episodes = runs.reduce((sum, cells) => sum + [...(cells.get(suite)?.values() ?? [])].reduce((own, { before }) => own + before.length, 0), 0);
    return changeOf(suite, grid, episodes);
  });
}

/** A program's win rate on both sides. */
interface Cell {
  readonly before: number;
  readonly after: number;
}

/** Means over a grid [runs][programs], and the change with its interval. */
function changeOf(suite: string, grid: readonly (readonly Cell[])[], episodes: number): Change {
  const changes = grid.map((row) => row.map(({ before, after }) => after - before));
  const over = (values: readonly (readonly number[])[]): number => average(values.map(average)) ?? NaN;
  const side = (name: keyof Cell): number => over(grid.map((row) => row.map((cell) => cell[name])));
  return { suite, before: side("before"), after: side("after"), change: over(changes), interval: crossedBootstrap(changes), episodes };
}

/** A program's win rates, if it has episodes on both sides: missing is not zero. */
function bothSides(before: number | undefined, after: number | undefined): Cell[] {
  return before === undefined || after === undefined ? [] : [{ before, after }];
}

function cellsOf(directory: string): Cells {
  using store = RunStore.openReadOnly(directory);
  const rows = [...store.rows("evaluations")];
  const last = Math.max(...rows.map(({ iteration }) => iteration));
  if (last === 0) throw new SpadeError("usage.study", `The run ${directory} has no evaluation after its start yet. Let it finish: spade train --resume ${directory}`);
  const cells: Cells = new Map();
  for (const { iteration, suite, mode, programId, outcome } of rows) {
    const value = episodeReturn(outcome);
    if (value === undefined || (iteration !== 0 && iteration !== last)) continue;
    const programs = cells.get(`${suite} ${mode}`) ?? new Map<string, { before: number[]; after: number[] }>();
    cells.set(`${suite} ${mode}`, programs);
    const cell = programs.get(programId) ?? { before: [], after: [] };
    programs.set(programId, cell);
    cell[iteration === 0 ? "before" : "after"].push(Number(isWin(value)));
  }
  return cells;
}

/** Percentile interval of the mean of a grid [runs][programs], resampling runs and programs. */
function crossedBootstrap(grid: readonly (readonly number[])[]): readonly [number, number] {
  const rng = new Rng(1);
  const width = grid[0]?.length ?? 0;
  const means = Array.from({ length: 4000 }, () => {
    const columns = Array.from({ length: width }, () => rng.int(0, width - 1));
    return average(grid.map(() => rng.pick(grid)).map((row) => average(columns.map((i) => row[i])))) ?? NaN;
  }).sort((a, b) => a - b);
  return [means[100] ?? NaN, means[3899] ?? NaN];
}
