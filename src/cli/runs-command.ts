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
  const runs = describeRuns(root);
  if (args.flag("json")) console.log(JSON.stringify(runs, null, 2));
  else console.log(runs.length === 0 ? `No runs in ${root}.` : table([["run", "preset", "iterations", "started"], ...runs.map((run) => [run.directory, run.name, `${run.iterations}/${run.planned}`, run.started])]));
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

/** The runs in a directory, by name; none when it does not exist. @throws storage.* */
export function describeRuns(root: string): RunLine[] {
  const names = existsSync(root) ? readdirSync(root).filter((name) => existsSync(join(root, name, "run.sqlite"))).sort() : [];
  return names.map((name) => describe(join(root, name)));
}

function describe(directory: string): RunLine {
  const store = RunStore.openReadOnly(directory);
  try {
    const { name, config, provenance } = store.header;
    const planned = (config as { run: { iterations: number } }).run.iterations;
    return { directory, name, iterations: store.lastIteration() ?? 0, planned, written: statSync(join(directory, "run.sqlite")).mtimeMs, started: typeof provenance["started"] === "string" ? provenance["started"] : "" };
  } finally {
    store.close();
  }
}

function show(args: Arguments): number {
  const directory = args.required(1, "The run's directory");
  console.log(args.flag("json") ? JSON.stringify(runReport(directory), null, 2) : runSummary(directory));
  return 0;
}
