import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import process from "node:process";
import { loadConfig } from "../config/load.ts";
import { SpadeError } from "../core/errors.ts";
import type { Spent } from "../policy/openai/spending.ts";
import { type Funnel, readFunnel } from "../report/funnel.ts";
import { createDesigns, resumeDesigns } from "../selfplay/design-run.ts";
import type { Listener } from "../selfplay/events.ts";
import { RunStore } from "../storage/run-store.ts";
import type { Arguments, CommandSpec } from "./arguments.ts";
import { readVariable } from "./environment-variables.ts";
import { table } from "./format.ts";
import { gitProvenance, programVersion } from "./provenance.ts";
import { spentLines } from "./spending.ts";
import { freePath, interruptible } from "./surroundings.ts";
import { liveView, plainView } from "./view.ts";

/** `spade design`: writes environments with any policy and judges them by the gates; nothing is trained. */
export const designCommand: CommandSpec = {
  name: "design",
  usage: "design [--policy config.json] [options]  |  design --resume DIR",
  summary: "Write environments with a policy, without training: design, gate, hint. Stores every candidate with its admission record, and the admitted programs as files. Exit code 0: something was admitted; 1: nothing was; 3: a limit of spending was reached.",
  options: [
    { name: "policy", value: "CONFIG", help: "preset or configuration file with the policy, prompts, corpus and gates (default: quickstart, the bundled model)" },
    { name: "tasks", value: "N", help: "design tasks (default: the configuration's tasksPerIteration)" },
    { name: "seed", value: "S", help: "seed of every random choice (default: the configuration's)" },
    { name: "out", value: "DIR", help: "directory of the record (default: designs/<name>-<n>, never overwritten)" },
    { name: "resume", value: "DIR", help: "go on with designs that were interrupted" },
    { name: "json", help: "print the result as JSON; progress goes to the error stream" },
  ],
  run: design,
};

type Spending = Readonly<Record<string, Spent>>;

async function design(args: Arguments): Promise<number> {
  const [resumed, source] = [args.text("resume"), args.text("policy") ?? "quickstart"];
  const name = basename(source, ".json");
  const directory = resumed ?? args.text("out") ?? freePath("designs", name);
  const goOn = `Go on with: npm run spade -- design --resume ${directory}`;
  interruptible(directory, goOn);
  let spent: Spending = {};
  const view = progressView();
  const listener: Listener = (event) => (event.kind === "spent" ? void (spent = event.spent) : view(event));
  const surroundings = { directory, programVersion: programVersion(), listener, readVariable };
  try {
    if (resumed === undefined) await createDesigns({ ...surroundings, name, ...startOf(args, source), provenance: { ...gitProvenance(), started: new Date().toISOString() } });
    else await resumeDesigns(surroundings);
  } catch (error) {
    // The lock's holder and a record that was there before are another command's.
    if (existsSync(join(directory, "run.sqlite")) && !(error instanceof SpadeError && error.boundary === "storage")) {
      report(directory, { spent, args });
      process.stderr.write(`${goOn}\n`);
    }
    throw error;
  }
  return report(directory, { spent, args }).admitted > 0 ? 0 : 1;
}

function startOf(args: Arguments, source: string): { readonly loaded: ReturnType<typeof loadConfig>; readonly tasks: number } {
  const seed = args.integer("seed");
  const loaded = loadConfig(source, seed === undefined ? {} : { run: { seed } });
  const tasks = args.integer("tasks") ?? loaded.config.design.tasksPerIteration;
  if (tasks < 1) throw new SpadeError("usage.tasks", "--tasks must be at least 1, not 0. See: spade design --help");
  return { loaded, tasks };
}

function progressView(): Listener {
  const start = performance.now();
  const view = { write: (text: string) => void process.stderr.write(text), elapsed: () => (performance.now() - start) / 1000, columns: process.stderr.columns || 100 };
  return process.stderr.isTTY ? liveView(view) : plainView(view);
}

function report(directory: string, { spent, args }: { readonly spent: Spending; readonly args: Arguments }): Funnel {
  using store = RunStore.openReadOnly(directory);
  const funnel = readFunnel(store);
  console.log(args.flag("json") ? JSON.stringify({ directory, ...funnel, spent }, null, 2) : [funnelText(funnel, directory), ...spentLines(spent)].join("\n"));
  return funnel;
}

function funnelText({ tasks, candidates, gates, admitted, hinted }: Funnel, directory: string): string {
  const codes = (rejected: Readonly<Record<string, number>>): string => Object.entries(rejected).sort((a, b) => b[1] - a[1]).map(([code, n]) => `${code} ${n}`).join(", ");
  const count = (rejected: Readonly<Record<string, number>>): number => Object.values(rejected).reduce((a, b) => a + b, 0);
  return [
    table([["stage", "left", "rejected", "why"], ["design tasks", String(tasks), "", ""], ["candidates", String(candidates), "", ""], ...gates.map(({ gate, rejected, left }) => [gate, String(left), String(count(rejected)), codes(rejected)])]),
    `${admitted} admitted, ${hinted} of them with a hint. Record: ${directory} (spade env list ${directory}); programs: ${join(directory, "programs")}`,
  ].join("\n");
}
