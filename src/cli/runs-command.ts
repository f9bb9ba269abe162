import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { SpadeError } from "../core/errors.ts";
import { RunStore } from "../storage/run-store.ts";
import type { Arguments, CommandSpec } from "./arguments.ts";
import { table } from "./format.ts";
import { runReport, runSummary } from "./summary.ts";

/** `spade runs`: lists runs and shows one. */
export const runsCommand: CommandSpec = {
  name: "runs",
  usage: "runs list [DIR]  |  runs show <run>",
  summary: "List the runs in a directory (default: runs), or show one run's tables and environments.",
  options: [{ name: "json", help: "print JSON" }],
  run: (args) => {
    const action = args.required(0, "list or show");
    if (action === "list") return list(args);
    if (action === "show") return show(args);
    throw new SpadeError("usage.action", `runs knows list and show, not "${action}".`);
  },
};

function list(args: Arguments): number {
  const root = args.positionals[1] ?? "runs";
  const { runs, damaged } = describeRuns(root);
  if (args.flag("json")) {
    console.log(JSON.stringify([...runs, ...damaged], null, 2));
    return 0;
  }
  console.log(runs.length === 0 ? `No runs in ${root}.` : table([["run", "preset", "iterations", "started"], ...runs.map((run) => [run.directory, run.name, `${run.iterations}/${run.planned}`, run.started])]));
  for (const { error } of damaged) console.error(error);
  return 0;
}

/** One run, as a list shows it. */
interface RunLine {
  readonly directory: string;
  readonly name: string;
  readonly iterations: number;
  readonly planned: number;
  readonly started: string;
  /** When its record was last written, in milliseconds since 1970. */
  readonly written: number;
}

/** A run whose record cannot be read, and why. */
interface DamagedRun {
  readonly directory: string;
  readonly error: string;
}

/** The runs in a directory, by name; none when it does not exist. A damaged run does not hide the others. */
export function describeRuns(root: string): { readonly runs: RunLine[]; readonly damaged: DamagedRun[] } {
  const names = existsSync(root) ? readdirSync(root).filter((name) => existsSync(join(root, name, "run.sqlite"))).sort() : [];
  const runs: RunLine[] = [];
  const damaged: DamagedRun[] = [];
  for (const directory of names.map((name) => join(root, name))) {
    try {
      runs.push(describe(directory));
    } catch (error) {
      if (!(error instanceof SpadeError)) throw error;
      damaged.push({ directory, error: `${error.code}: ${error.message}` });
    }
  }
  return { runs, damaged };
}

function describe(directory: string): RunLine {
  using store = RunStore.openReadOnly(directory);
  const { name, config, provenance } = store.header;
  const planned = (config as { run: { iterations: number } }).run.iterations;
  return { directory, name, iterations: store.lastIteration() ?? 0, planned, written: statSync(join(directory, "run.sqlite")).mtimeMs, started: typeof provenance["started"] === "string" ? provenance["started"] : "" };
}

function show(args: Arguments): number {
  const directory = args.required(1, "The run's directory");
  console.log(args.flag("json") ? JSON.stringify(runReport(directory), null, 2) : runSummary(directory));
  return 0;
}
