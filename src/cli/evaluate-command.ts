import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { embeddedRenderer } from "../chat/renderer.ts";
import { loadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { SpadeError } from "../core/errors.ts";
import { loadTokenizer } from "../engine/bpe.ts";
import { EngineHost } from "../engine/engine.ts";
import { type Evaluation, evaluate } from "../evaluation/evaluate.ts";
import { loadSuite } from "../evaluation/suite.ts";
import { embedded } from "../policy/embedded.ts";
import { openSandbox } from "../sandbox/pool.ts";
import { packagePath } from "../selfplay/paths.ts";
import { type OpenSpeaker, openSpeaker } from "../selfplay/engines.ts";
import { dialogueOf } from "../selfplay/dependencies.ts";
import { evaluationSeeds } from "../selfplay/evaluation.ts";
import { listCheckpoints } from "../storage/checkpoints.ts";
import { RunStore } from "../storage/run-store.ts";
import type { Arguments, CommandSpec } from "./arguments.ts";
import { decimal, pair, table } from "./format.ts";
import { spentText } from "./spending.ts";
import { outsideRuns } from "./surroundings.ts";

/** `spade evaluate`: scores a model, or every checkpoint of a run, on the hand-written suites. */
export const evaluateCommand: CommandSpec = {
  name: "evaluate",
  usage: "evaluate <run or model directory | config.json> [options]",
  summary: "Score a model, every kept checkpoint of a run, or the policy of a configuration (an endpoint, a server) on hand-written environments with fixed seeds.",
  options: [
    { name: "suite", value: "DIR", help: "suite to play (default: environments/heldout and environments/easy)" },
    { name: "seeds", value: "N", help: "seeds per program (default 16)" },
    { name: "greedy", help: "take the most likely token instead of sampling" },
    { name: "threads", value: "N", help: "threads of the engine (default 2)" },
    { name: "json", help: "print JSON" },
  ],
  run: evaluateAll,
};

/** One policy to score. */
interface Subject {
  readonly name: string;
  readonly config: Config;
  /** `threads` are those of the embedded engine. */
  readonly open: (threads: number) => Promise<OpenSpeaker>;
}

async function evaluateAll(args: Arguments): Promise<number> {
  const subjects = findSubjects(args.required(0, "The run's or model's directory, or a configuration file"));
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

function findSubjects(path: string): Subject[] {
  const { config } = loadConfig("quickstart");
  if (path.endsWith(".json")) {
    const own = loadConfig(path).config;
    return [{ name: own.policy.model, config: own, open: () => openSpeaker(own, outsideRuns) }];
  }
  if (existsSync(join(path, "run.sqlite"))) {
    using store = RunStore.openReadOnly(path);
    const { policy } = store.header.config as { readonly policy: { readonly kind: string; readonly model: string } };
    if (policy.kind !== "embedded") throw new SpadeError("usage.model", `${path} is a run of the policy "${policy.kind}", whose weights are on a server. Its evaluations are in its record (spade runs show); give a run or model of the embedded engine.`);
    const tokenizer = join(packagePath(policy.model), "tokenizer.json");
    return listCheckpoints(path).map(({ name, directory: weights }) => ({ name: `iteration ${Number(name)}`, config, open: (threads) => openWeights({ weights, tokenizer, threads }) }));
  }
  if (existsSync(path) && statSync(path).isDirectory() && existsSync(join(path, "weights.safetensors"))) {
    return [{ name: path, config, open: (threads) => openWeights({ weights: path, tokenizer: join(path, "tokenizer.json"), threads }) }];
  }
  throw new SpadeError("usage.model", `${path} is neither a run (run.sqlite) nor a model (weights.safetensors) nor a configuration (.json). Give the path of one.`);
}

async function openWeights({ weights, tokenizer, threads }: { readonly weights: string; readonly tokenizer: string; readonly threads: number }): Promise<OpenSpeaker> {
  const loaded = await loadTokenizer(tokenizer);
  const host = await EngineHost.create({ source: { kind: "directory", directory: weights }, threads });
  const { policy } = await embedded(host, { stopToken: loaded.special.end, maxPolicyLag: 0, keepReference: false, allowSamplingMismatch: false });
  return { policy, renderer: embeddedRenderer(loaded), notes: [], [Symbol.asyncDispose]: () => host.close() };
}

async function evaluateOne(subject: Subject, args: Arguments): Promise<Evaluation[]> {
  const { play, evaluation } = subject.config;
  const suite = args.text("suite");
  const suites = await Promise.all((suite === undefined ? evaluation.suites.map(packagePath) : [suite]).map(loadSuite));
  await using stack = new AsyncDisposableStack();
  const speaker = stack.use(await subject.open(args.integer("threads") ?? 2));
  const sandbox = await openSandbox({ lanes: 2 });
  stack.defer(() => sandbox.close());
  for (const note of speaker.notes) process.stderr.write(`${note}\n`);
  const evaluations: Evaluation[] = [];
  for (const played of suites) {
    process.stderr.write(`${subject.name}: playing ${played.name}\n`);
    evaluations.push(
      await evaluate({
        suite: played,
        policy: speaker.policy,
        sandbox,
        dialogue: dialogueOf(speaker.renderer, subject.config),
        seeds: evaluationSeeds(args.integer("seeds") ?? 16),
        plays: 1,
        sampling: play.sampling,
        greedy: args.flag("greedy"),
        maxTurns: play.maxTurns,
      }),
    );
  }
  if (speaker.spending !== undefined) process.stderr.write(`${spentText(subject.name, speaker.spending.spent)}\n`);
  return evaluations;
}
