import { mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EngineHost } from "./engine.ts";
import type { AdamSettings, CrossEntropyRow, TransformerConfig } from "./types.ts";

const tinyConfig: TransformerConfig = { vocabularySize: 24, width: 16, layers: 2, heads: 2, feedForward: 32, contextLength: 48, ropeBase: 10000 };
const adam: AdamSettings = { learningRate: 3e-3, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0.1, maxGradientNorm: 1 };
const tinyRows: CrossEntropyRow[] = [5, 20, 48, 31].map((length, r) => ({
  tokens: Int32Array.from({ length }, (_, i) => (i * (r + 2) + r) % 24),
  weights: Float32Array.from({ length }, (_, i) => (i % 5 === 4 ? 0 : 1 + (i % 2))),
}));

const open: EngineHost[] = [];
async function engine(seed = 1): Promise<EngineHost> {
  const host = await EngineHost.create({ source: { kind: "seed", config: tinyConfig, seed }, threads: 1 });
  open.push(host);
  return host;
}

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "spade-engine-"));
});
afterAll(async () => {
  await Promise.all(open.map((host) => host.close()));
  await rm(directory, { recursive: true });
});

describe("EngineHost cross-entropy", () => {
  it("learns a pattern", async () => {
    const host = await engine();
    const { loss: before } = await host.crossEntropyLoss(tinyRows);
    for (let i = 0; i < 60; i++) await host.crossEntropyStep(tinyRows, adam);
    const { loss: after } = await host.crossEntropyLoss(tinyRows);
    expect(before).toBeGreaterThan(2.9);
    expect(after).toBeLessThan(before / 2);
  });

  it("reports the same loss with and without an update", async () => {
    const host = await engine();
    const plain = await host.crossEntropyLoss(tinyRows);
    const step = await host.crossEntropyStep(tinyRows, adam);
    expect(step.loss).toBeCloseTo(plain.loss, 5);
    expect(step.tokens).toBe(plain.tokens);
  });

  it("goes on from a checkpoint as if it had never stopped", async () => {
    const first = await engine();
    for (let i = 0; i < 3; i++) await first.crossEntropyStep(tinyRows, adam);
    await first.save(directory);
    await first.crossEntropyStep(tinyRows, adam);
    const second = await engine(2);
    await second.load(directory);
    await second.crossEntropyStep(tinyRows, adam);
    expect(await second.exportWeights()).toEqual(await first.exportWeights());
  });

  it("accumulates over chunks what one chunk would give", async () => {
    const [once, many] = [await engine(), await engine()];
    const small = await once.crossEntropyStep(tinyRows, adam);
    const large = await many.crossEntropyStep(Array.from({ length: 50 }, () => tinyRows).flat(), adam);
    expect(large.tokens).toBe(small.tokens * 50);
    expect(large.loss).toBeCloseTo(small.loss, 5);
    expect(large.gradientNorm).toBeCloseTo(small.gradientNorm, 4);
    const [a, b] = [await once.exportWeights(), await many.exportWeights()];
    for (const [name, weights] of Object.entries(a)) weights.forEach((weight, i) => expect(Math.abs(weight - b[name]![i]!)).toBeLessThan(2e-4));
  });

  it("takes views of a larger buffer", async () => {
    const host = await engine();
    const big = new Int32Array(1000).fill(3);
    const rows = tinyRows.map(({ tokens, weights }) => {
      big.set(tokens, 500);
      return { tokens: big.slice().subarray(500, 500 + tokens.length), weights };
    });
    expect(await host.crossEntropyLoss(rows)).toEqual(await host.crossEntropyLoss(tinyRows));
  });

  it("refuses a non-finite step and keeps the weights", async () => {
    const host = await engine();
    const before = await host.exportWeights();
    const huge = tinyRows.map((row) => ({ ...row, weights: row.weights.map(() => 3e38) }));
    await expect(host.crossEntropyStep(huge, { ...adam, learningRate: 1 })).resolves.toBeDefined();
    const broken = Object.fromEntries(Object.entries(before).map(([name, data]) => [name, data.map((x) => x * 1e30)]));
    const bad = await EngineHost.create({ source: { kind: "weights", config: tinyConfig, weights: broken }, threads: 1 });
    open.push(bad);
    await expect(bad.crossEntropyStep(tinyRows, adam)).rejects.toMatchObject({ code: "engine.nonFinite" });
    expect(await bad.exportWeights()).toEqual(broken);
  });

  it("refuses rows that are too long or carry no loss", async () => {
    const host = await engine();
    const long = { tokens: new Int32Array(49), weights: new Float32Array(49).fill(1) };
    await expect(host.crossEntropyStep([long], adam)).rejects.toMatchObject({ code: "engine.request" });
    const empty = { tokens: new Int32Array(9), weights: new Float32Array(9) };
    await expect(host.crossEntropyStep([empty], adam)).rejects.toMatchObject({ code: "engine.request" });
  });
});

describe("model directories", () => {
  it("names a truncated weights file", async () => {
    const host = await engine();
    await host.save(directory, { optimiser: false });
    const path = join(directory, "weights.safetensors");
    const whole = await readFile(path);
    for (const size of [0, 5, 100, whole.length - 4]) {
      await truncate(path, size);
      const error: unknown = await EngineHost.create({ source: { kind: "directory", directory }, threads: 1 }).catch((e: unknown) => e);
      expect(error).toMatchObject({ code: "engine.weights" });
      expect(String(error)).toContain(path);
      await writeFile(path, whole);
    }
  });
});
