import process from "node:process";
import { createInterface } from "node:readline/promises";
import type { Config } from "../config/schema.ts";
import type { Environment } from "../core/environment.ts";
import { SpadeError } from "../core/errors.ts";
import { storedEnvironments } from "../report/run-rows.ts";
import { type Difference, expectedSteps, type PlayedEpisode, replayEpisode } from "../rollout/replay.ts";
import { openSandbox } from "../sandbox/pool.ts";
import type { Fork, GuestResult, InstanceId, ProgramHandle } from "../sandbox/sandbox.ts";
import { RunStore } from "../storage/run-store.ts";
import type { Arguments } from "./arguments.ts";

/** The word that takes a person back to where they took over. */
const backWord = "/back";

interface StoredEpisode {
  readonly id: string;
  readonly played: PlayedEpisode;
  readonly environment: Environment;
  readonly config: Config;
}

/** `spade env replay`: runs a stored episode again; exit code 1 when anything differs from the record. */
export async function replayCommand(args: Arguments): Promise<number> {
  const { id, played, environment, config } = readEpisode(args);
  await using stack = new AsyncDisposableStack();
  const handle = await openHandle(environment, config, stack);
  const { steps, difference } = await replayEpisode(handle, played);
  if (args.flag("json")) console.log(JSON.stringify({ episode: id, steps, equal: difference === undefined, ...(difference === undefined ? {} : { difference }) }));
  else if (difference === undefined) console.log(`${id}: ${count(steps, "step")} again, every observation, reward and flag as recorded.`);
  else console.log(`${id}: differs from the record.\n${describe(difference)}`);
  return difference === undefined ? 0 : 1;
}

/** `spade env fork`: replays a stored episode up to a turn and lets a person go on; a line is an action, `/back` returns to the turn. */
export async function forkCommand(args: Arguments): Promise<number> {
  const { id, played, environment, config } = readEpisode(args);
  const made = expectedSteps(played).length;
  const turn = args.integer("turn") ?? made;
  if (turn > made) throw new SpadeError("usage.turn", `The episode ${id} has ${count(made, "step")}, so it cannot be forked at turn ${turn}. Give --turn 0 to ${made}.`);
  await using stack = new AsyncDisposableStack();
  const handle = await openHandle(environment, config, stack);
  const { difference, end } = await replayEpisode(handle, played, turn);
  if (difference !== undefined) throw new SpadeError("rollout.replay", `The episode ${id} does not replay: ${describe(difference)} See: spade env replay`);
  if (end === undefined) throw new SpadeError("usage.turn", `The environment failed at the last step of ${id}. Give an earlier turn: --turn 0 to ${made - 1}.`);
  const last = expectedSteps(played)[turn - 1];
  if (last?.terminated === true || last?.truncated === true) throw new SpadeError("usage.turn", `The episode ${id} is over after turn ${turn}. Give an earlier turn: --turn 0 to ${turn - 1}.`);
  const json = args.flag("json");
  if (!json) for (const { observation, action } of played.turns.slice(0, turn)) console.log(`${observation}\n> ${action ?? ""}`);
  const fork = need(await handle.fork(end.instance));
  using terminal = createInterface({ input: process.stdin, output: json ? process.stderr : process.stdout });
  return await playOn({ handle, fork, turn, observation: end.observation, json, lines: terminal[Symbol.asyncIterator]() });
}

interface PlayOn {
  readonly handle: ProgramHandle;
  /** Where the person takes over. */
  readonly fork: Fork;
  readonly turn: number;
  readonly observation: string;
  readonly json: boolean;
  readonly lines: AsyncIterator<string>;
}

async function playOn({ handle, fork, turn, observation, json, lines }: PlayOn): Promise<number> {
  const show = (line: object, text: string): void => console.log(json ? JSON.stringify(line) : text);
  const begin = async (): Promise<{ instance: InstanceId; at: number }> => {
    show({ turn, observation }, observation);
    return { instance: await handle.restore(fork), at: turn };
  };
  let { instance, at } = await begin();
  for (;;) {
    if (!json) process.stdout.write("> ");
    const line = await lines.next();
    if (line.done === true) {
      if (!json) console.log("\nLeft before the end.");
      return 0;
    }
    if (line.value === backWord) {
      await handle.release([instance]);
      ({ instance, at } = await begin());
      continue;
    }
    const step = need((await handle.step([{ instance, action: line.value }]))[0]);
    at++;
    show({ turn: at, action: line.value, ...step }, step.observation);
    if (!step.terminated && !step.truncated) continue;
    if (!json) console.log(step.terminated ? `Ended with reward ${step.reward}.` : "Ended: out of turns.");
    return 0;
  }
}

async function openHandle({ program }: Environment, { sandbox: { bubblewrap, limits } }: Config, stack: AsyncDisposableStack): Promise<ProgramHandle> {
  const sandbox = await openSandbox({ lanes: 1, bubblewrap, limits });
  stack.defer(() => sandbox.close());
  return need(await sandbox.open(program));
}

function readEpisode(args: Arguments): StoredEpisode {
  const directory = args.required(1, "The run's directory");
  const id = args.required(2, "The episode's id, iteration/environment/arm/seed index/play");
  using store = RunStore.openReadOnly(directory);
  const found = store.rows("episodes").find((row) => row.id === id);
  if (found === undefined) {
    const [some] = store.rows("episodes");
    const example = some === undefined ? "It has no episodes yet." : `Ids read like ${some.id}.`;
    throw new SpadeError("usage.episode", `The run ${directory} has no episode "${id}". ${example} List them with: spade env episodes ${directory}`);
  }
  const stored = storedEnvironments(store).find((row) => row.id === found.environmentId);
  if (stored === undefined) throw new SpadeError("storage.corrupt", `The episode ${id} was played in ${found.environmentId}, which is not in the record of ${directory}.`);
  return { id, played: found, environment: stored.environment, config: store.header.config as Config };
}

function describe({ turn, what, recorded, replayed }: Difference): string {
  const shown = (value: Difference["recorded"]): string => (value === undefined ? "none" : JSON.stringify(value));
  return `First difference: ${what} of turn ${turn}.\n  recorded: ${shown(recorded)}\n  replayed: ${shown(replayed)}`;
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

function need<T>(result: GuestResult<T> | undefined): T {
  if (result?.ok === true) return result.value;
  throw new SpadeError("sandbox.program", `The program failed: ${result === undefined ? "no answer" : `${result.failure.code}, ${result.failure.message}`}. Look at its source: spade env show`);
}
