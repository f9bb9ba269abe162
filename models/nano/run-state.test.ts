import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { learningRateAt, recipe } from "./recipe.ts";
import { loadCheckpoint, LossCurve, saveCheckpoint } from "./run-state.ts";
import type { RunPosition, Weights } from "./run-state.ts";

/** Weights of one number. */
class OneWeight implements Weights {
  value: number;

  constructor(value: number) {
    this.value = value;
  }

  async save(directory: string): Promise<void> {
    await writeFile(join(directory, "weights"), String(this.value));
  }

  async load(directory: string): Promise<void> {
    this.value = Number(await readFile(join(directory, "weights"), "utf8"));
  }
}

const at = (step: number): RunPosition => ({ recipe: "r1", step, phase: 1, ends: [7], phaseTokens: 40 * step, next: 10 * step, tokens: 100 * step, elapsedMs: 5 });
let state: string;

beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), "nano-"));
});

afterEach(() => rm(state, { recursive: true }));

describe("checkpoints of pretraining", () => {
  it("loads nothing from a fresh directory", async () => {
    expect(await loadCheckpoint(state, "r1", new OneWeight(1))).toBeUndefined();
  });

  it("keeps two and loads the last", async () => {
    for (const step of [1, 2, 10]) await saveCheckpoint(state, at(step), new OneWeight(step));
    expect(await readdir(state)).toEqual(["checkpoint-00000002", "checkpoint-00000010"]);
    const weights = new OneWeight(0);
    expect(await loadCheckpoint(state, "r1", weights)).toEqual(at(10));
    expect(weights.value).toBe(10);
  });

  it("ignores what a killed save left", async () => {
    await saveCheckpoint(state, at(1), new OneWeight(1));
    await mkdir(join(state, "checkpoint-00000002.tmp"));
    expect(await loadCheckpoint(state, "r1", new OneWeight(0))).toEqual(at(1));
    await saveCheckpoint(state, at(2), new OneWeight(2));
    expect(await loadCheckpoint(state, "r1", new OneWeight(0))).toEqual(at(2));
  });

  it("refuses a run of another recipe", async () => {
    await saveCheckpoint(state, at(1), new OneWeight(1));
    await expect(loadCheckpoint(state, "r2", new OneWeight(0))).rejects.toThrow(/recipe r1, this is recipe r2.*--state/u);
  });
});

describe("loss curve", () => {
  it("forgets what comes after the checkpoint, and half a line", async () => {
    const curve = new LossCurve(state);
    for (const step of [10, 20, 30]) await curve.append({ step, loss: 1 });
    await writeFile(join(state, "loss.jsonl"), '{"step":4', { flag: "a" });
    await curve.rewind(20);
    expect(await readFile(join(state, "loss.jsonl"), "utf8")).toBe('{"step":10,"loss":1}\n{"step":20,"loss":1}\n');
  });
});

describe("learning rate", () => {
  it("warms up to the peak and falls to the floor", () => {
    expect(learningRateAt(0, 1e-3)).toBeLessThan(0.05 * 1e-3);
    expect(learningRateAt(recipe.schedule.warmUp, 1e-3)).toBeCloseTo(1e-3, 9);
    expect(learningRateAt(1, 1e-3)).toBeCloseTo(recipe.schedule.floor * 1e-3, 9);
    expect(learningRateAt(0.5, 1e-3)).toBeGreaterThan(learningRateAt(0.6, 1e-3));
  });
});
