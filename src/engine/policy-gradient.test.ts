import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Rng } from "../core/seed.ts";
import { EngineHost } from "./engine.ts";
import type { PolicyGradientRow, PolicyGradientSettings, TransformerConfig } from "./types.ts";

const config: TransformerConfig = { vocabularySize: 20, width: 16, layers: 1, heads: 2, feedForward: 16, contextLength: 64, ropeBase: 1000 };
const frozen = { learningRate: 0, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0, maxGradientNorm: 1 };
const settings: PolicyGradientSettings = { clipLow: 0.2, clipHigh: 0.28, importanceCap: 2, klCoefficient: 0, entropyCoefficient: 0, adam: frozen, minibatches: 1, seed: 1 };

let host: EngineHost;
beforeAll(async () => {
  host = await EngineHost.create({ source: { kind: "seed", config, seed: 9 }, threads: 1 });
});
afterAll(() => host.close());

/** Rows whose sampler's log-probabilities are the trainer's less `shift(row)`. */
async function rowsWith(count: number, shift: (row: number) => number): Promise<PolicyGradientRow[]> {
  const rng = new Rng(3);
  const bare = Array.from({ length: count }, (_, r) => ({ tokens: Int32Array.from({ length: 10 + (r % 50) }, () => rng.int(0, 19)), temperature: 0.5 + (r % 3) / 2 }));
  const trainer = await host.logprobs(bare);
  return bare.map((row, r) => ({
    ...row,
    mask: Uint8Array.from(row.tokens, (_, t) => Number(t > 3 && t % 3 !== 0)),
    logprobs: trainer[r]!.map((logprob) => logprob - shift(r)),
    advantage: rng.float() - 0.4,
    weight: 1 + (r % 2),
    group: r % 2 === 0 ? "agent" : "designer",
  }));
}

const sampled = (row: PolicyGradientRow): number => row.mask.reduce((sum, m) => sum + m, 0);

describe("policyGradientUpdate", () => {
  it("weighs tokens by weight · advantage · truncated importance, over several chunks", async () => {
    const rows = await rowsWith(120, (r) => [1, -0.5, 0][r % 3]!);
    const importance = [2, Math.exp(-0.5), 1];
    const metrics = await host.policyGradientUpdate(rows, settings);
    const total = rows.reduce((sum, row) => sum + row.weight * sampled(row), 0);
    const expected = -rows.reduce((sum, row, r) => sum + row.weight * sampled(row) * importance[r % 3]! * row.advantage, 0) / total;
    expect(metrics.loss).toBeCloseTo(expected, 5);
    expect(metrics.tokens).toBe(rows.reduce((sum, row) => sum + sampled(row), 0));
  });

  it("compares sampler and trainer per group", async () => {
    const rows = await rowsWith(20, (r) => (r % 2 === 0 ? 0 : 0.3));
    const metrics = await host.policyGradientUpdate(rows, settings);
    expect(metrics.kl["agent"]).toBeCloseTo(0, 6);
    expect(metrics.kl["designer"]).toBeCloseTo(Math.expm1(0.3) - 0.3, 5);
    expect(metrics.logprobGap).toBeCloseTo(0.3, 5);
    expect(Object.keys(metrics.entropy).sort()).toEqual(["agent", "designer"]);
    expect(metrics.entropy["agent"]).toBeCloseTo(Math.log(20), 1);
  });

  it("gives no KL to a reference that is the policy itself, and the true entropy bonus", async () => {
    await host.setReference();
    const rows = (await rowsWith(9, () => 0)).map((row) => ({ ...row, advantage: 0 }));
    const kl = await host.policyGradientUpdate(rows, { ...settings, klCoefficient: 5 });
    expect(kl.loss).toBeCloseTo(0, 6);
    const entropy = await host.policyGradientUpdate(rows, { ...settings, entropyCoefficient: 0.1 });
    expect(entropy.loss).toBeLessThan(0);
    expect(entropy.loss).toBeGreaterThanOrEqual(-0.1 * Math.log(20));
    expect(entropy.loss).toBeCloseTo(-0.1 * Math.log(20), 2);
  });

  it("clips ratios once the policy has moved", async () => {
    const rows = await rowsWith(40, () => 0);
    const moving = await EngineHost.create({ source: { kind: "weights", config, weights: await host.exportWeights() }, threads: 1 });
    const one = await moving.policyGradientUpdate(rows, settings);
    expect(one.clipFraction).toBe(0);
    const many = await moving.policyGradientUpdate([...rows, ...rows, ...rows, ...rows], { ...settings, minibatches: 8, adam: { ...frozen, learningRate: 0.05 } });
    await moving.close();
    expect(many.clipFraction).toBeGreaterThan(0.05);
  });

  it.each([
    ["a row without a reference", { klCoefficient: 1 }, {}, "engine.request"],
    ["temperature 0", {}, { temperature: 0 }, "engine.request"],
    ["a sampled first token", {}, { mask: new Uint8Array(10).fill(1) }, "engine.request"],
    ["a mask of another length", {}, { mask: new Uint8Array(9) }, "engine.request"],
    ["a log-probability that is not finite", {}, { logprobs: new Float32Array(10).fill(-Infinity) }, "engine.nonFinite"],
  ])("refuses %s", async (_, change, rowChange, code) => {
    const fresh = await EngineHost.create({ source: { kind: "seed", config, seed: 9 }, threads: 1 });
    const [row] = await rowsWith(1, () => 0);
    await expect(fresh.policyGradientUpdate([{ ...row!, ...rowChange }], { ...settings, ...change })).rejects.toMatchObject({ code });
    await fresh.close();
  });
});
