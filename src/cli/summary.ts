import { readScores, type StoredScore } from "../evaluation/stored.ts";
import { iterationMetrics } from "../report/iteration-metrics.ts";
import { type Share, shareOf } from "../gates/mutants/share.ts";
import { judgedMutants, readIterationRows, storedEnvironments } from "../report/run-rows.ts";
import { fifths, type FifthsRow } from "../report/run-table.ts";
import { describeIsolation, type Isolation } from "../sandbox/second-layer.ts";
import { RunStore } from "../storage/run-store.ts";
import { decimal, interval, pair, shareText, table } from "./format.ts";

/** All that `spade runs show` tells of a run. */
export interface RunReport {
  readonly directory: string;
  readonly name: string;
  readonly configDigest: string;
  readonly iterations: number;
  readonly digest: string;
  /** What stood between environment programs and the machine it ran on. */
  readonly sandbox?: string;
  readonly fifths: readonly FifthsRow[];
  readonly evaluations: readonly StoredScore[];
  /** Mutants judged beside the candidates; absent when there were none. */
  readonly mutants?: MutantReport;
  readonly examples: readonly { readonly id: string; readonly skill: string; readonly family: string; readonly novel?: boolean; readonly source: string; readonly hint?: string }[];
}

/** How the gates fared with planted faults during the run. */
interface MutantReport {
  /** Mutants admitted among those that differ from their originals. */
  readonly falseAccept: Share;
  /** Admitted, but not known to differ from their originals: not scored. */
  readonly notScored: number;
  /** Operators of the admitted ones and of all, by how often. */
  readonly admittedBy: Readonly<Record<string, number>>;
  readonly operators: Readonly<Record<string, number>>;
}

/** Computes a run's report from its record. @throws storage.* */
export function runReport(directory: string, exampleCount = 3): RunReport {
  using store = RunStore.openReadOnly(directory);
  const iterations = store.iterations().filter(({ iteration }) => iteration > 0);
  const metrics = iterations.map(({ iteration }) => iterationMetrics(readIterationRows(store, iteration)));
  const updates = new Map([...store.rows("updates")].map((row) => [row.iteration, row.metrics as { entropy?: Record<string, number> }]));
  const entropy = (role: string): (number | undefined)[] => iterations.map(({ iteration }) => updates.get(iteration)?.entropy?.[role]);
  return {
    directory,
    name: store.header.name,
    configDigest: store.header.configDigest,
    iterations: iterations.length,
    digest: store.digest(),
    ...sandboxOf(store),
    fifths: fifths(metrics, [
      { name: "entropy, agent", values: entropy("agent") },
      { name: "entropy, designer", values: entropy("designer") },
    ]),
    evaluations: readScores(store),
    ...mutantReport(store),
    examples: latestExamples(store, exampleCount),
  };
}

function mutantReport(store: RunStore): Pick<RunReport, "mutants"> {
  const all = judgedMutants(store);
  if (all.length === 0) return {};
  const admitted = all.filter(({ verdict }) => verdict === "admitted");
  const scored = admitted.length + all.filter(({ verdict }) => verdict === "rejected").length;
  const byOperator = (mutants: typeof all): Record<string, number> =>
    Object.fromEntries([...Map.groupBy(mutants, ({ operator }) => operator)].sort(([a], [b]) => (a < b ? -1 : 1)).map(([operator, group]) => [operator, group.length]));
  return { mutants: { falseAccept: shareOf(admitted.length, scored), notScored: all.length - scored, admittedBy: byOperator(admitted), operators: byOperator(all) } };
}

function sandboxOf(store: RunStore): Pick<RunReport, "sandbox"> {
  const isolation = store.header.provenance["sandbox"] as (Omit<Isolation, "permissionGaps"> & Partial<Isolation>) | undefined;
  // Runs of before the gaps were noted have none of them.
  return isolation === undefined ? {} : { sandbox: describeIsolation({ ...isolation, permissionGaps: isolation.permissionGaps ?? [] }) };
}

/** The newest admitted environments, one per family as far as possible, novel ones first. */
function latestExamples(store: RunStore, count: number): RunReport["examples"] {
  const newest = [...storedEnvironments(store)].reverse();
  const novel = newest.filter(({ facts }) => facts.novel === true);
  const seen = new Set<string>();
  return [...novel, ...newest]
    .filter(({ facts: { family } }) => (seen.has(family) ? false : seen.add(family)))
    .slice(0, count)
    .map(({ id, environment: { skill, program, hint }, facts: { family, novel: isNovel } }) => ({
      id,
      skill,
      family,
      source: program.source,
      ...(isNovel === undefined ? {} : { novel: isNovel }),
      ...(hint === undefined ? {} : { hint }),
    }));
}

/** The report as text: table, evaluations, example environments. */
export function runSummary(directory: string): string {
  const report = runReport(directory);
  const rows = report.fifths.map((row) => [row.measure, interval(row.first), interval(row.last)]);
  const scores = report.evaluations.map(({ suite, mode, iteration, rate }) => [`${suite} ${mode}, after ${iteration}`, decimal(rate.winRate), pair(rate.interval), String(rate.episodes)]);
  return [
    `${report.name}: ${report.iterations} iterations in ${report.directory}, record ${report.digest.slice(0, 16)}`,
    ...(report.sandbox === undefined ? [] : [`sandbox: ${report.sandbox}`]),
    "",
    table([["measure", "first fifth", "last fifth"], ...rows]),
    "",
    table([["win rate", "mean", "95 % interval", "episodes"], ...scores]),
    ...(report.mutants === undefined ? [] : ["", ...mutantLines(report.mutants)]),
    ...report.examples.flatMap((example) => [
      "",
      `environment ${example.id}: ${example.skill}, family ${example.family}${example.novel === true ? ", syntax tree in no demonstration" : ""}`,
      example.source.trimEnd(),
      ...(example.hint === undefined ? [] : [`hint: ${example.hint}`]),
    ]),
  ].join("\n");
}

function mutantLines({ falseAccept, notScored, admittedBy }: MutantReport): string[] {
  const operators = Object.entries(admittedBy).map(([operator, times]) => (times === 1 ? operator : `${operator} (${times})`));
  return [
    `mutants judged beside the candidates: ${shareText(falseAccept)} admitted${notScored === 0 ? "" : `; ${notScored} more not scored, for no difference to their originals was found`}`,
    ...(operators.length === 0 ? [] : [`faults let through: ${operators.join(", ")}`]),
  ];
}
