import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { loadConfig } from "../src/config/load.ts";
import type { RunEvent, Stage } from "../src/selfplay/events.ts";
import { RunStore } from "../src/storage/run-store.ts";
import { descendantsOf, isRunning } from "../src/sandbox/test-processes.ts";
import { copyRun, digestOf, eventsOf, killAt, packageRoot, signalAt, spade, workDirectory, writeConfig } from "./command.ts";

vi.setConfig({ testTimeout: 180_000 });
const { path, remove } = workDirectory();
const config = writeConfig(path("plain.json"));
let digest = "";
/** A run killed at the boundary after iteration 1; the moments below are reached from copies of it. */
const boundary = path("boundary");

beforeAll(async () => {
  const whole = await spade("train", config, "--out", path("whole"), "--json");
  expect(whole.stderr).toBe("");
  digest = digestOf(whole);
  await killAt([config, "--out", boundary], (event) => event.kind === "iteration");
}, 300_000);
afterAll(remove);

/** True while a stage of an iteration is under way; of gates, once the sandbox has judged a candidate. */
function during(stage: Stage, iteration: number): (event: RunEvent) => boolean {
  const from = stage === "gates" ? 1 : 0;
  return (event) => event.kind === "stage" && event.stage === stage && event.iteration === iteration && event.done >= from && (event.done === 0 || event.done < event.total);
}

/** True once the checkpoint of `iteration` in `run` has its first file and no manifest yet. */
function betweenFiles(run: string, iteration: number): (event: RunEvent) => Promise<boolean> {
  const draft = join(run, "checkpoints", `.tmp-${String(iteration).padStart(6, "0")}`);
  const isDuring = during("checkpoint", iteration);
  return async (event) => {
    if (!isDuring(event)) return false;
    while (!existsSync(draft) || readdirSync(draft).length === 0) await new Promise(setImmediate);
    return true;
  };
}

function committed(run: string): number | undefined {
  using store = RunStore.openReadOnly(run);
  return store.lastIteration();
}

async function resumes(run: string, expected = digest): Promise<void> {
  const resumed = await spade("train", "--resume", run, "--json");
  expect(resumed.stderr).toBe("");
  expect(resumed.code).toBe(0);
  expect(committed(run)).toBe(3);
  expect(digestOf(resumed)).toBe(expected);
  expect(readdirSync(join(run, "checkpoints"))).toEqual(["000000", "000002", "000003"]);
}

test("the run that the others are compared with admitted designs, trained on them and evaluated", () => {
  using store = RunStore.openReadOnly(path("whole"));
  expect([...store.rows("environments")].filter((row) => row.admitted).length).toBeGreaterThan(0);
  expect([...store.rows("updates")].length).toBeGreaterThan(0);
  expect([...store.rows("evaluations")].length).toBeGreaterThan(0);
});

test("killed before anything is committed: configuration and digest are there already (invariant 11)", async () => {
  const run = path("before");
  await killAt([config, "--out", run], during("evaluate", 0), async () => {
    const second = await spade("train", "--resume", run);
    expect(second.stderr, "one writer at a time").toMatch(/^storage.locked: .* process \d+\./);
    expect(second.code).toBe(1);
  });
  const store = RunStore.openReadOnly(run);
  expect(store.iterations()).toEqual([]);
  const loaded = loadConfig(config);
  expect([store.header.config, store.header.configDigest]).toEqual([loaded.config, loaded.digest]);
  expect(Object.keys(store.header.provenance)).toEqual(expect.arrayContaining(["node", "platform"]));
  store.close();
  await resumes(run);
});

test.each(["evaluate", "update"] as const)("Ctrl-C in the stage %s ends a run at once and says how to go on", async (stage) => {
  const run = path(`interrupted-${stage}`);
  const { signal, stderr } = await signalAt([config, "--out", run], "SIGINT", during(stage, stage === "evaluate" ? 0 : 1));
  expect(signal).toBe("SIGINT");
  expect(stderr.trim(), "nothing but the advice").toBe(`Interrupted; nothing recorded is lost. Go on with: npm run spade -- train --resume ${run}`);
  await resumes(run);
});

test("T15a: killed at an iteration's boundary", async () => {
  expect(committed(boundary)).toBe(1);
  await resumes(copyRun(boundary, path("at-boundary")));
});

test.each(["design", "gates", "play", "update"] as const)("T15c: killed again at once, in the stage %s", async (stage) => {
  const run = copyRun(boundary, path(stage));
  const { events, descendants } = await killAt(["--resume", run], during(stage, 2));
  if (process.platform === "linux" && stage !== "design") expect(descendants, "the sandbox had started a child").not.toEqual([]);
  // Stages overlap, so it need not be the last event.
  expect(events).toContainEqual(expect.objectContaining({ kind: "stage", stage, iteration: 2 }));
  expect(committed(run)).toBe(1);
  await resumes(run);
});

test("T15b: killed between two files of a checkpoint, twice in a row", async () => {
  const run = copyRun(boundary, path("checkpoint"));
  for (let times = 0; times < 2; times++) {
    await killAt(["--resume", run], betweenFiles(run, 2));
    const draft = readdirSync(join(run, "checkpoints", ".tmp-000002"));
    expect(draft.length).toBeGreaterThan(0);
    expect(draft).not.toContain("manifest.json");
    expect(committed(run)).toBe(1);
  }
  await resumes(run);
});

test("killed while mutants are judged beside the candidates", async () => {
  const mutated = writeConfig(path("mutated.json"), { gates: { mutants: { rate: 0.5 } } });
  const whole = await spade("train", mutated, "--out", path("mutated-whole"), "--json");
  const mutants = eventsOf(whole).flatMap((event) => (event.kind === "iteration" ? [event.metrics.mutants ?? 0] : []));
  expect(mutants.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  const run = path("mutated");
  await killAt([mutated, "--out", run], during("mutants", 2));
  expect(committed(run)).toBe(1);
  await resumes(run, digestOf(whole));
});

test("T15d: killed while designs wait for their payment", async () => {
  const delayed = writeConfig(path("delayed.json"), { design: { regenerateEvery: 2 } });
  const whole = await spade("train", delayed, "--out", path("delayed-whole"), "--json");
  expect(eventsOf(whole).at(-1)).toMatchObject({ kind: "end" });
  const store = RunStore.openReadOnly(path("delayed-whole"));
  const paidIn = [...store.rows("rewards")].map((row) => row.iteration);
  store.close();
  expect(new Set(paidIn)).toEqual(new Set([2]));
  const run = path("delayed");
  await killAt([delayed, "--out", run], during("play", 2));
  expect(committed(run)).toBe(1);
  await resumes(run, digestOf(whole));
});

test("a run started by bin/spade.js ends with it, even when it is killed", async () => {
  const starter = spawn(process.execPath, [join(packageRoot, "bin/spade.js"), "train", config, "--out", path("starter"), "--json"], { cwd: packageRoot, stdio: ["ignore", "pipe", "ignore"] });
  await once(starter.stdout, "data");
  const descendants = descendantsOf(starter.pid ?? 0);
  expect(descendants.length).toBeGreaterThan(0);
  starter.kill("SIGKILL");
  await vi.waitFor(() => expect(descendants.filter(isRunning)).toEqual([]), { timeout: 10_000 });
});
