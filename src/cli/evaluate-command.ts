import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { embeddedRenderer } from "../chat/renderer.ts";
import { loadConfig } from "../config/load.ts";
import { SpadeError } from "../core/errors.ts";
import { loadTokenizer } from "../engine/bpe.ts";
import { EngineHost } from "../engine/engine.ts";
import { type Evaluation, evaluate } from "../evaluation/evaluate.ts";
import { loadSuite } from "../evaluation/suite.ts";
import { embedded } from "../policy/embedded.ts";
import { openSandbox } from "../sandbox/pool.ts";
import { packagePath } from "../selfplay/paths.ts";
import { dialogueOf } from "../selfplay/dependencies.ts";
import { evaluationSeeds } from "../selfplay/evaluation.ts";
import { listCheckpoints } from "../storage/checkpoints.ts";
import { RunStore } from "../storage/run-store.ts";
import type { Arguments, CommandSpec } from "./arguments.ts";
import { decimal, pair, table } from "./format.ts";

/** `spade evaluate`: scores a model, or every checkpoint of a run, on the hand-written suites. */
export const evaluateCommand: CommandSpec = {
  name: "evaluate",
  usage: "evaluate <run or model directory> [options]",
  summary: "Score a model, or every kept checkpoint of a run, on hand-written environments with fixed seeds.",
  options: [
    { name: "suite", value: "DIR", help: "suite to play (default: environments/heldout and environments/easy)" },
    { name: "seeds", value: "N", help: "seeds per program (default 16)" },
    { name: "greedy", help: "take the most likely token instead of sampling" },
    { name: "threads", value: "N", help: "threads of the engine (default 2)" },
    { name: "json", help: "print JSON" },
  ],
  run: evaluateAll,
};

/** One model to score. */
interface Subject {
  readonly name: string;
  /** Directory with config.json and weights. */
  readonly weights: string;
  readonly tokenizer: string;
}

async function evaluateAll(args: Arguments): Promise<number> {
  const directory = args.required(0, "The run's or model's directory");
  const subjects = findSubjects(directory);
  const results: { readonly subject: string; readonly evaluation: Evaluation }[] = [];
  for (const subject of subjects) for (const evaluation of await evaluateOne(subject, args)) results.push({ subject: subject.name, evaluation });
  if (args.flag("json")) {
    console.log(JSON.stringify(results, null, 2));
    return 0;
  }
  const rows = results.map(({ subject, evaluation: { suite, mode, overall } }) => [subject, `${suite} ${mode}`, decimal(overall.winRate), pair(overall.interval), String(overall.episodes)]);
  console.log(table([["model", "suite", "win rate", "95 % interval", "episodes"], ...rows]));
  for (const { subject, evaluation } of results) {
    console.log(`\n${subject}, ${evaluation.suite} ${evaluation.mode}`);
    console.log(table([["program", "skill", "level", "win rate"], ...evaluation.programs.map((program) => [program.file, program.skill, String(program.level), decimal(program.winRate)])]));
  }
  return 0;
}

function findSubjects(directory: string): Subject[] {
  if (existsSync(join(directory, "run.sqlite"))) {
    const store = RunStore.openReadOnly(directory);
    const { policy } = store.header.config as { readonly policy: { readonly kind: string; readonly model: string } };
    store.close();
    if (policy.kind !== "embedded") throw new SpadeError("usage.model", `${directory} is a run of the policy "${policy.kind}", whose weights are on a server. Its evaluations are in its record (spade runs show); give a run or model of the embedded engine.`);
    const model = packagePath(policy.model);
    return listCheckpoints(directory).map(({ name, directory: weights }) => ({ name: `iteration ${Number(name)}`, weights, tokenizer: join(model, "tokenizer.json") }));
  }
  if (existsSync(directory) && statSync(directory).isDirectory() && existsSync(join(directory, "weights.safetensors"))) {
    return [{ name: directory, weights: directory, tokenizer: join(directory, "tokenizer.json") }];
  }
  throw new SpadeError("usage.model", `${directory} is neither a run (run.sqlite) nor a model (weights.safetensors). Give the directory of one.`);
}

async function evaluateOne(subject: Subject, args: Arguments): Promise<Evaluation[]> {
  const { play, evaluation, prompts } = loadConfig("quickstart").config;
  const suite = args.text("suite");
  const suites = await Promise.all((suite === undefined ? evaluation.suites.map(packagePath) : [suite]).map(loadSuite));
  const tokenizer = await loadTokenizer(subject.tokenizer);
  await using stack = new AsyncDisposableStack();
  const host = await EngineHost.create({ source: { kind: "directory", directory: subject.weights }, threads: args.integer("threads") ?? 2 });
  stack.defer(() => host.close());
  const sandbox = await openSandbox({ lanes: 2 });
  stack.defer(() => sandbox.close());
  const { policy } = await embedded(host, { stopToken: tokenizer.special.end, maxPolicyLag: 0, keepReference: false, allowSamplingMismatch: false });
  const evaluations: Evaluation[] = [];
  for (const played of suites) {
    process.stderr.write(`${subject.name}: playing ${played.name}\n`);
    evaluations.push(
      await evaluate({
        suite: played,
        policy,
        sandbox,
        dialogue: dialogueOf(embeddedRenderer(tokenizer), { play, prompts }),
        seeds: evaluationSeeds(args.integer("seeds") ?? 16),
        plays: 1,
        sampling: play.sampling,
        greedy: args.flag("greedy"),
        maxTurns: play.maxTurns,
      }),
    );
  }
  return evaluations;
}
