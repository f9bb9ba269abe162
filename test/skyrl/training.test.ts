import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RunStore } from "../../src/storage/run-store.ts";
import { eventsOf, killAt, spade, workDirectory, writeConfig } from "../command.ts";
import { programTokens, type Served, serve } from "./harness.ts";
import { writeQwen3 } from "./model-files.ts";
import { SkyRl } from "./server.ts";

/**
 * Whole runs of `spade train` on the server. The model's weights are random and stay almost so: it says tokens at random. What makes three
 * iterations train both roles is its vocabulary, in which whole programs and whole answers are one token each.
 */
const answers = [1, 2, 3, 4].flatMap((answer) => [`\\boxed{${answer}}`, `\\boxed{ ${answer} }`, `\\boxed{${answer} }`]);

const work = workDirectory();
let served: Served;
let server: SkyRl;
let config: string;

beforeAll(async () => {
  served = await serve(await writeQwen3(1, { added: [...programTokens(), ...answers] }), "absolute");
  server = served.server;
  config = writeRunConfig("config.json");
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await served[Symbol.asyncDispose]();
  work.remove();
});

function writeRunConfig(name: string, changes: object = {}): string {
  const { model } = server.options;
  const sampling = { temperature: 1, maxTokens: 32 };
  return writeConfig(work.path(name), {
    policy: { kind: "tinker", baseUrl: server.baseUrl, model, tokenizer: model, profile: "skyrl-jax", lora: { rank: 8 }, contextLength: 512, ...changes },
    corpus: { maxWords: 8 },
    design: { tasksPerIteration: 12, activeSkills: 1, positives: 0, sampling, hintSampling: sampling },
    play: { seedsPerEnvironment: 2, playsPerSeed: 6, hintPlaysPerSeed: 2, sampling, contextLength: 512 },
    update: { loss: { entropyCoefficient: 0 }, optimiser: { learningRate: 0.01, minibatches: 1 } },
    evaluation: { suites: [] },
  });
}

/** What was sampled in a run, by what it was sampled for. */
function samplesOf(directory: string): ReadonlyMap<string, string> {
  using store = RunStore.openReadOnly(directory);
  const sampled = [...store.rows("segments")].filter(({ kind }) => kind === "sampled");
  return new Map(sampled.map(({ iteration, owner, ownerId, position, tokens }) => [[iteration, owner, ownerId, position].join(" "), [...tokens].join(" ")]));
}

/**
 * Two runs of one configuration sample the same tokens, but for the rare one on the edge: the server's numbers depend in their last digit on
 * which requests it happens to take together. After one update with other weights hardly any sample would be the same.
 */
function expectSameRun(directory: string): void {
  const [whole, other] = [samplesOf(work.path("whole")), samplesOf(directory)];
  const same = [...whole].filter(([key, tokens]) => other.get(key) === tokens).length;
  console.log(`${same} of ${whole.size} samples are those of the undisturbed run.`);
  expect(other.size).toBeGreaterThan(0.5 * whole.size);
  expect(same).toBeGreaterThan(0.5 * whole.size);
  expect(updatesOf(directory)).toBe(updatesOf(work.path("whole")));
}

function updatesOf(directory: string): number {
  using store = RunStore.openReadOnly(directory);
  return [...store.rows("updates")].length;
}

/** Says what was trained on, iteration by iteration. */
function describeTraining(directory: string): { readonly iterations: number; readonly agentRows: number; readonly designerRows: number } {
  using store = RunStore.openReadOnly(directory);
  const updates = [...store.rows("updates")];
  const totals = { iterations: updates.length, agentRows: 0, designerRows: 0 };
  for (const { iteration, metrics } of updates) {
    const { loss, gradientNorm, logprobGap } = metrics as Readonly<Record<string, number>>;
    const rows = [...store.rows("advantages", { iteration })].filter(({ kept, advantage }) => kept && advantage !== 0);
    const [agent, designer] = ["agent", "designer"].map((role) => rows.filter((row) => row.role === role).length) as [number, number];
    totals.agentRows += agent;
    totals.designerRows += designer;
    console.log(`Iteration ${iteration}: ${agent} agent rows, ${designer} designer rows; loss ${loss?.toFixed(4)}, gradient norm ${gradientNorm?.toFixed(4)}, largest gap between sampler and trainer ${logprobGap?.toExponential(1)}`);
    expect(logprobGap).toBeLessThan(1e-3);
  }
  return totals;
}

test("three iterations of SPADE train both roles on the server", async () => {
  const { code, stdout, stderr } = await spade("train", config, "--out", work.path("whole"));
  console.log(stdout);
  expect(code, stderr).toBe(0);
  const { iterations, agentRows, designerRows } = describeTraining(work.path("whole"));
  expect(iterations).toBe(3);
  expect(agentRows).toBeGreaterThan(0);
  expect(designerRows).toBeGreaterThan(0);
});

test("a run that is killed goes on by --resume as if it had not been", async () => {
  const directory = work.path("killed");
  await killAt([config, "--out", directory], (event) => event.kind === "stage" && event.iteration === 2 && event.stage === "play");
  const resumed = await spade("train", "--resume", directory);
  expect(resumed.code, resumed.stderr).toBe(0);
  expectSameRun(directory);
});

test("a server that dies in the middle of an update loses nothing: started again, the run goes on by --resume", async () => {
  const directory = work.path("server-died");
  const begun = (): number => server.log.split('"POST /api/v1/optim_step').length;
  const before = begun();
  const training = spade("train", config, "--out", directory, "--json");
  while (begun() === before) await sleep(5);
  await server.kill();
  server = await SkyRl.start(server.options);
  const failed = await training;
  expect(failed.code).toBe(1);
  console.log(failed.stderr);
  expect(failed.stderr).toContain("policy.");
  const [saved] = readdirSync(directory).filter((name) => name.startsWith("failed-update-"));
  expect(JSON.parse(readFileSync(`${directory}/${saved ?? ""}`, "utf8"))).toHaveProperty("batch.rows");
  expect(updatesOf(directory)).toBe(0);
  const resumed = await spade("train", "--resume", directory, "--json");
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(eventsOf(resumed).at(-1)?.kind).toBe("end");
  expectSameRun(directory);
});

test("a tokenizer that differs from the served model's is refused before a run is made", async () => {
  const { directory: other } = await writeQwen3(2, { added: [...answers, ...programTokens()] });
  const { code, stderr } = await spade("train", writeRunConfig("other.json", { tokenizer: other }), "--out", work.path("other"));
  expect(code).toBe(1);
  expect(stderr).toContain("is not the served model's");
  expect(readdirSync(work.path("."))).not.toContain("other");
});
