import { spawn } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { loadConfig } from "../src/config/load.ts";
import type { Episode, Turn } from "../src/core/episode.ts";
import { programId } from "../src/core/environment.ts";
import { openSandbox } from "../src/sandbox/pool.ts";
import { RunStore } from "../src/storage/run-store.ts";
import { type Finished, packageRoot, spade, workDirectory } from "./command.ts";

vi.setConfig({ testTimeout: 120_000 });
const { path, remove } = workDirectory();
const run = path("run");
const source = `
import random
class Dice:
    max_turns = 6
    def reset(self, seed=None):
        self.rng = random.Random(seed)
        self.sum = 0
        return "Roll until you have 20.", {}
    def step(self, action):
        self.sum += self.rng.randint(1, 6) if action == "roll" else 0
        won = self.sum >= 20
        return f"{action}: {self.sum}, luck {random.random()}", 1.0 if won else self.sum / 100, won, False, {}
`;

/** Plays in the sandbox what the run then holds. */
async function record(actions: readonly string[]): Promise<{ readonly turns: Turn[]; readonly terminated: boolean }> {
  await using stack = new AsyncDisposableStack();
  const sandbox = await openSandbox({ lanes: 1 });
  stack.defer(() => sandbox.close());
  const opened = await sandbox.open({ language: "python", source });
  if (!opened.ok) throw new Error(opened.failure.message);
  const [created] = await opened.value.create([4]);
  if (created?.ok !== true) throw new Error("not created");
  const turns: Turn[] = [];
  let { observation } = created.value;
  let terminated = false;
  for (const action of actions) {
    const [step] = await opened.value.step([{ instance: created.value.instance, action }]);
    if (step?.ok !== true) throw new Error("no step");
    turns.push({ observation, response: `\\boxed{${action}}`, action, reward: step.value.reward });
    ({ observation, terminated } = step.value);
    if (terminated) break;
  }
  return { turns, terminated };
}

let turns: Turn[] = [];
beforeAll(async () => {
  const played = await record(Array.from({ length: 30 }, () => "roll"));
  expect(played.terminated).toBe(true);
  ({ turns } = played);
  const { config, digest } = loadConfig("smoke");
  const store = RunStore.create(run, { name: "test", programVersion: "0", config, configDigest: digest, provenance: {} });
  const writer = store.beginIteration(0);
  const program = { language: "python", source } as const;
  const facts = { entry: "Dice", skeleton: "", family: "dice", stateVariables: 2, programTokens: 1 };
  writer.add("environments", { id: "0.0", taskId: "0.0", candidate: 0, skill: "luck", documentId: "d", admitted: true, response: "", ...program, programId: programId(program), trivialWinRate: 0, maxTurns: 30, facts });
  const episode = (id: string, changes: Partial<Episode> = {}): Episode => ({ id, environmentId: "0.0", arm: "plain", seed: 4, play: 0, turns, outcome: { kind: "terminated", reward: 1 }, trajectory: { role: "agent", arm: "plain", segments: [] }, ...changes });
  writer.addEpisodes([episode("0/0.0/plain/0/0"), episode("0/0.0/plain/0/1", { turns: turns.map((turn, i) => (i === 1 ? { ...turn, observation: "forged" } : turn)) })]);
  writer.commit({ policyVersion: 0 });
  store.close();
}, 120_000);
afterAll(remove);

/** Runs `spade` with lines to read from standard input. */
async function spadeReading(input: string, ...words: readonly string[]): Promise<Finished> {
  const child = spawn(process.execPath, [join(packageRoot, "src/cli/main.ts"), ...words], { cwd: packageRoot, stdio: ["pipe", "pipe", "inherit"] });
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString("utf8")));
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code: code ?? undefined, stdout, stderr: "" };
}

test("env replay: a stored episode plays again as recorded; a difference is printed and fails", async () => {
  const same = await spade("env", "replay", run, "0/0.0/plain/0/0", "--json");
  expect(same.stderr).toBe("");
  expect(JSON.parse(same.stdout)).toEqual({ episode: "0/0.0/plain/0/0", steps: turns.length, equal: true });
  expect(same.code).toBe(0);
  const forged = await spade("env", "replay", run, "0/0.0/plain/0/1");
  expect(forged.stdout).toContain("observation of turn 1");
  expect(forged.stdout).toContain('"forged"');
  expect(forged.code).toBe(1);
});

test("env fork: goes on from a turn; the recorded actions give what was recorded, others do not, and /back returns", async () => {
  const rest = turns.slice(2).map(({ action = "" }) => action);
  const { stdout, code } = await spadeReading(["wait", "/back", ...rest].join("\n"), "env", "fork", run, "0/0.0/plain/0/0", "--turn", "2", "--json");
  const lines = stdout.trim().split("\n").map((line) => JSON.parse(line) as { turn: number; observation: string; reward?: number; terminated?: boolean });
  expect(lines[0]).toEqual({ turn: 2, observation: turns[2]?.observation });
  expect(lines[1]).toMatchObject({ turn: 3, action: "wait" });
  expect(lines[2]).toEqual(lines[0]);
  expect(lines.slice(2, -1).map(({ observation }) => observation)).toEqual(turns.slice(2).map(({ observation }) => observation));
  expect(lines.at(-1)).toMatchObject({ turn: turns.length, reward: 1, terminated: true });
  expect(code).toBe(0);
});

test("what cannot be replayed or forked is refused by name", async () => {
  const unknown = await spade("env", "replay", run, "nothing");
  expect(unknown.stderr).toMatch(/^usage\.episode: .*0\/0\.0\/plain\/0\/0/);
  const late = await spade("env", "fork", run, "0/0.0/plain/0/0", "--turn", "99");
  expect(late.stderr).toMatch(/^usage\.turn: /);
  const over = await spade("env", "fork", run, "0/0.0/plain/0/0");
  expect(over.stderr).toMatch(/^usage\.turn: .*is over/);
  const forged = await spade("env", "fork", run, "0/0.0/plain/0/1", "--turn", "3");
  expect(forged.stderr).toMatch(/^rollout\.replay: /);
  expect([unknown.code, late.code, over.code, forged.code]).toEqual([2, 2, 2, 1]);
});

test("env play: a line is a whole reply of a tool-use program, and what was repaired is told", async () => {
  const call = (name: string, given: object, key = "arguments"): string => `<tool_call>${JSON.stringify({ name, [key]: given })}</tool_call>`;
  const lines = ["\\boxed{1}", call("sound_horn", {}, "parameters"), call("tow", { berth: "x" })];
  const { stdout, code } = await spadeReading(lines.join("\n"), "env", "play", "environments/good/berth_tools.ts", "--seed", "3");
  expect(stdout).toContain("(A line is a whole reply");
  expect(stdout).toContain("Nothing was done: the reply has no tool call.");
  expect(stdout).toContain("sound_horn: the horn sounds\n(sound_horn: parameters read as arguments)");
  expect(stdout).toContain('tow: error: parameter berth is "x"; expected integer');
  expect(stdout).toContain("Left before the end.");
  expect(code).toBe(0);
});

test("env episodes lists them", async () => {
  const { stdout } = await spade("env", "episodes", run, "0.0", "--json");
  expect((JSON.parse(stdout) as { id: string }[]).map(({ id }) => id)).toEqual(["0/0.0/plain/0/0", "0/0.0/plain/0/1"]);
});
