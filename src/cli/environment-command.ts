import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline/promises";
import { SpadeError } from "../core/errors.ts";
import type { Program } from "../core/environment.ts";
import { storedEnvironments } from "../report/run-rows.ts";
import { openSandbox } from "../sandbox/pool.ts";
import type { GuestResult, Sandbox } from "../sandbox/sandbox.ts";
import { RunStore } from "../storage/run-store.ts";
import type { Arguments, CommandSpec } from "./arguments.ts";
import { forkCommand, replayCommand } from "./episode-command.ts";
import { decimal, table } from "./format.ts";

/** `spade env`: lists, shows and plays environments of a run, or a program file. */
export const environmentCommand: CommandSpec = {
  name: "env",
  usage: "env list <run>  |  env show <run> <id>  |  env play <run> <id> | <file>  |  env episodes <run> [id]  |  env replay <run> <episode>  |  env fork <run> <episode> --turn N",
  summary: "List the environments of a run, read one, or play one yourself; run stored episodes again, or go on from one of their turns.",
  options: [
    { name: "seed", value: "S", help: "seed of reset when playing (default 0)" },
    { name: "turn", value: "N", help: "steps of the stored episode to make before you take over (fork; default: all)" },
    { name: "json", help: "print JSON (not when playing)" },
  ],
  run: (args) => {
    const name = args.required(0, Object.keys(actions).join(", "));
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (action === undefined) throw new SpadeError("usage.action", `env knows ${Object.keys(actions).join(", ")}, not "${name}".`);
    return action(args);
  },
};

const actions: Readonly<Record<string, (args: Arguments) => number | Promise<number>>> = { list, show, play, episodes, replay: replayCommand, fork: forkCommand };

function episodes(args: Arguments): number {
  const directory = args.required(1, "The run's directory");
  const environment = args.positionals[2];
  using store = RunStore.openReadOnly(directory);
  const found = [...store.rows("episodes")].filter(({ environmentId }) => environment === undefined || environmentId === environment);
  const lines = found.map(({ id, seed, turns, outcome }) => ({ id, seed, turns: turns.length, outcome }));
  if (args.flag("json")) console.log(JSON.stringify(lines, null, 2));
  else console.log(table([["episode", "seed", "turns", "outcome"], ...lines.map(({ id, seed, turns, outcome }) => [id, String(seed), String(turns), Object.values(outcome).join(" ")])]));
  return 0;
}

function list(args: Arguments): number {
  const environments = readAll(args.required(1, "The run's directory"));
  if (args.flag("json")) console.log(JSON.stringify(environments, null, 2));
  else console.log(table([["id", "skill", "family", "trivial win rate", "tokens"], ...environments.map(({ id, environment, facts }) => [id, environment.skill, facts.family, decimal(environment.trivialWinRate), String(facts.programTokens)])]));
  return 0;
}

function show(args: Arguments): number {
  const { id, environment, facts, gates } = readOne(args);
  if (args.flag("json")) {
    console.log(JSON.stringify({ id, environment, facts, gates }, null, 2));
    return 0;
  }
  console.log(`${id}: ${environment.skill}, family ${facts.family}, from document ${environment.documentId}\n\n${environment.program.source}`);
  console.log(`hint: ${environment.hint ?? "none"}\n`);
  console.log(table([["gate", "verdict", "evidence"], ...gates.map((gate) => [gate.gate, gate.passed ? "pass" : "reject", JSON.stringify(gate.evidence)])]));
  return 0;
}

function readAll(directory: string): ReturnType<typeof storedEnvironments> extends Generator<infer Item> ? Item[] : never {
  using store = RunStore.openReadOnly(directory);
  return [...storedEnvironments(store)];
}

function readOne(args: Arguments) {
  const directory = args.required(1, "The run's directory");
  const wanted = args.required(2, "The environment's id (see: spade env list)");
  using store = RunStore.openReadOnly(directory);
  const found = storedEnvironments(store).find(({ id }) => id === wanted);
  if (found === undefined) throw new SpadeError("usage.environment", `The run ${directory} has no admitted environment "${wanted}". List them with: spade env list ${directory}`);
  const gates = [...store.rows("gateResults", { iteration: found.iteration })].filter((row) => row.environmentId === wanted);
  return { ...found, gates };
}

function programOf(args: Arguments): Program {
  const path = args.required(1, "The run's directory or a program file");
  if (existsSync(join(path, "run.sqlite"))) return readOne(args).environment.program;
  const language = path.endsWith(".py") ? "python" : /\.[mc]?[jt]s$/.test(path) ? "typescript" : undefined;
  if (language === undefined || !existsSync(path)) throw new SpadeError("usage.environment", `${path} is neither a run's directory nor a Python or TypeScript file. Give a run and an environment's id, or a file.`);
  return { language, source: readFileSync(path, "utf8") };
}

/** Lets a person play: one line is one action, of a tool-use program one whole reply. The program runs in the sandbox, as always. */
async function play(args: Arguments): Promise<number> {
  const program = programOf(args);
  await using stack = new AsyncDisposableStack();
  const sandbox = await openSandbox({ lanes: 1 });
  stack.defer(() => sandbox.close());
  using terminal = createInterface({ input: process.stdin, output: process.stdout });
  const lines = terminal[Symbol.asyncIterator]();
  const ask = async (): Promise<string | undefined> => {
    process.stdout.write("> ");
    const { done, value } = await lines.next();
    return done === true ? undefined : value;
  };
  return await playInteractively(sandbox, program, { seed: args.integer("seed") ?? 0, ask });
}

async function playInteractively(sandbox: Sandbox, program: Program, options: { readonly seed: number; readonly ask: () => Promise<string | undefined> }): Promise<number> {
  const handle = await expectGuest(sandbox.open(program));
  const first = await expectGuest(handle.create([options.seed]).then((results) => results[0]));
  console.log(first.observation);
  if (handle.facts.actionForm === "tools") console.log("(A line is a whole reply, tool calls or an answer in their tags.)");
  for (;;) {
    const action = await options.ask();
    if (action === undefined) {
      console.log("\nLeft before the end.");
      return 0;
    }
    const step = await expectGuest(handle.step([{ instance: first.instance, action }]).then((results) => results[0]));
    console.log(step.observation);
    for (const warning of step.parse?.warnings ?? []) console.log(`(${warning})`);
    if (!step.terminated && !step.truncated) continue;
    console.log(step.terminated ? `Ended with reward ${step.reward}.` : "Ended: out of turns.");
    return 0;
  }
}

async function expectGuest<T>(pending: Promise<GuestResult<T> | undefined>): Promise<T> {
  const result = await pending;
  if (result?.ok === true) return result.value;
  throw new SpadeError("sandbox.program", `The program failed: ${result === undefined ? "no answer" : `${result.failure.code}, ${result.failure.message}`}. Look at its source.`);
}
