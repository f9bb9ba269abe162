import { basename } from "node:path";
import process from "node:process";
import { loadConfig } from "../config/load.ts";
import { mergeInputs } from "../config/merge.ts";
import { SpadeError } from "../core/errors.ts";
import { createRun, resumeRun, type RunResult } from "../selfplay/run.ts";
import type { Listener } from "../selfplay/events.ts";
import type { Arguments, CommandSpec } from "./arguments.ts";
import { readAssignments } from "./assignments.ts";
import { readVariable } from "./environment-variables.ts";
import { gitProvenance, programVersion } from "./provenance.ts";
import { describeRuns } from "./runs-command.ts";
import { runSummary } from "./summary.ts";
import { freePath, interruptible } from "./surroundings.ts";
import { jsonView, liveView, plainView } from "./view.ts";

/** `spade train`: starts a run or goes on with one. */
export const trainCommand: CommandSpec = {
  name: "train",
  usage: "train <preset|config.json> [options]  |  train --resume [run]",
  summary: "Train one policy as designer and agent. Presets: quickstart, nano, smoke and those that spade presets lists.",
  options: [
    { name: "iterations", value: "N", help: "iterations to run (default: the preset's)" },
    { name: "seed", value: "S", help: "seed of every random choice (default: the preset's)" },
    { name: "threads", value: "N", help: "threads of the embedded engine (default: the preset's)" },
    { name: "set", value: "KEY=VALUE", repeatable: true, help: "override any key of the configuration, for example --set play.maxTurns=4; may be repeated" },
    { name: "out", value: "DIR", help: "directory of the run (default: runs/<preset>-<n>, never overwritten)" },
    { name: "resume", value: "RUN", optionalValue: true, help: "go on with an interrupted run (default: the newest unfinished one in runs/)" },
    { name: "json", help: "print events as JSON, one per line" },
  ],
  run: train,
};

async function train(args: Arguments): Promise<number> {
  const start = performance.now();
  const elapsed = (): number => (performance.now() - start) / 1000;
  const write = (text: string): void => void process.stdout.write(text);
  const view = { write, elapsed, columns: process.stdout.columns || 100 };
  const json = args.flag("json");
  const listener: Listener = json ? jsonView(view) : process.stdout.isTTY ? liveView(view) : plainView(view);
  const result = await runOrResume(args, listener);
  if (!json) write(`\n${runSummary(result.directory)}\n`);
  return 0;
}

async function runOrResume(args: Arguments, listener: Listener): Promise<RunResult> {
  const wanted = args.text("resume");
  if (wanted !== undefined) {
    refuseWithResume(args);
    const resumed = wanted === "" ? newestUnfinished() : wanted;
    interruptible(resumed, goOn(resumed));
    return resumeRun({ directory: resumed, programVersion: programVersion(), listener, readVariable });
  }
  const source = args.required(0, "The preset or configuration file");
  const [iterations, seed, threads] = [args.integer("iterations"), args.integer("seed"), args.integer("threads")];
  const named = {
    run: { ...(iterations === undefined ? {} : { iterations }), ...(seed === undefined ? {} : { seed }) },
    ...(threads === undefined ? {} : { policy: { threads } }),
  };
  const loaded = loadConfig(source, mergeInputs(readAssignments("set", args.texts("set")), named));
  const name = basename(source, ".json");
  const directory = args.text("out") ?? freePath("runs", name);
  interruptible(directory, goOn(directory));
  return createRun({ directory, name, loaded, programVersion: programVersion(), provenance: { ...gitProvenance(), started: new Date().toISOString() }, listener, readVariable });
}

const goOn = (directory: string): string => `Go on with: npm run spade -- train --resume ${directory}`;

/** The run in runs/ that was written last and has iterations left. @throws SpadeError usage.resume when there is none */
function newestUnfinished(): string {
  const unfinished = describeRuns("runs").runs.filter(({ iterations, planned }) => iterations < planned);
  const newest = unfinished.sort((a, b) => a.written - b.written).at(-1);
  if (newest === undefined) throw new SpadeError("usage.resume", "There is no unfinished run in runs/. Name the run: spade train --resume <run>");
  return newest.directory;
}

function refuseWithResume(args: Arguments): void {
  const given = ["iterations", "seed", "threads", "out"].find((name) => args.text(name) !== undefined) ?? args.texts("set")[0] ?? args.positionals[0];
  if (given !== undefined) {
    throw new SpadeError("usage.resume", `--resume takes the run's own configuration; leave out "${given}", or start a new run.`);
  }
}
