import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { append } from "../core/trajectory.ts";
import type { TrainableTrajectory } from "../core/trajectory.ts";
import { EngineHost } from "../engine/engine.ts";
import type { TransformerConfig } from "../engine/types.ts";
import { embedded } from "./embedded.ts";
import type { EmbeddedOptions, EmbeddedPolicy, EmbeddedTrainer } from "./embedded.ts";
import type { Loss, Optimiser, Sample, SampleRequest, TrainingRow } from "./policy.ts";

const config: TransformerConfig = { vocabularySize: 12, width: 16, layers: 2, heads: 2, feedForward: 24, contextLength: 32, ropeBase: 1000 };
const options: EmbeddedOptions = { stopToken: 11, maxPolicyLag: 1, keepReference: true, allowSamplingMismatch: false };
const optimiser: Optimiser = { learningRate: 2e-2, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0, maxGradientNorm: 1, minibatches: 2 };
const loss: Loss = { kind: "policyGradient", clipLow: 0.2, clipHigh: 0.28, importanceCap: 2, klCoefficient: 0, entropyCoefficient: 0 };
const sampling = { temperature: 1, topP: 1, topK: 0, maxTokens: 6 };
const hosts: EngineHost[] = [];
let directory: string;

async function make(seed: number, change: Partial<EmbeddedOptions> = {}): Promise<{ policy: EmbeddedPolicy; trainer: EmbeddedTrainer; host: EngineHost }> {
  const host = await EngineHost.create({ source: { kind: "seed", config, seed }, threads: 1 });
  hosts.push(host);
  return { ...(await embedded(host, { ...options, ...change })), host };
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "spade-policy-"));
});
afterAll(async () => {
  await Promise.all(hosts.map((host) => host.close()));
  await rm(directory, { recursive: true });
});

const requests = (count: number, seed: number): SampleRequest[] => Array.from({ length: count }, (_, i) => ({ prompt: Int32Array.of(1, 2, 3 + (i % 4)), sampling, seed: seed * 1000 + i }));

function trajectoryOf(request: SampleRequest, sample: Sample): TrainableTrajectory {
  const empty: TrainableTrajectory = { role: "agent", arm: "plain", segments: [{ kind: "prompt", tokens: request.prompt }] };
  return append(empty, { kind: "sampled", tokens: sample.tokens, logprobs: sample.logprobs, policyVersion: sample.policyVersion });
}

/** Rewards token 5: advantage is the share of fives less the mean. */
async function rowsOf(policy: EmbeddedPolicy, seed: number): Promise<{ rows: TrainingRow[]; mean: number }> {
  const asked = requests(48, seed);
  const samples = await policy.sample(asked);
  const rewards = samples.map(({ tokens }) => tokens.filter((token) => token === 5).length / tokens.length);
  const mean = rewards.reduce((a, b) => a + b) / rewards.length;
  return { mean, rows: samples.map((sample, i) => ({ trajectory: trajectoryOf(asked[i]!, sample), advantage: (rewards[i]! - mean) * 4, weight: 1, temperature: 1 })) };
}

describe("EmbeddedTrainer", () => {
  it("raises the reward of what it samples, one version per update", async () => {
    const { policy, trainer } = await make(1);
    const means: number[] = [];
    for (let i = 0; i < 12; i++) {
      const { rows, mean } = await rowsOf(policy, i);
      means.push(mean);
      const metrics = await trainer.update({ rows, seed: i }, loss, optimiser);
      expect(metrics.policyVersion).toBe(i + 1);
      expect(metrics.logprobGap).toBeLessThan(1e-4);
      expect(metrics.kl["agent"]).toBeLessThan(1e-6);
      expect(metrics.entropy["agent"]).toBeGreaterThan(0);
    }
    expect(means[0]).toBeLessThan(0.3);
    expect(means.at(-1)).toBeGreaterThan(0.6);
  });

  it("goes on from a checkpoint as if it had never stopped, KL reference included", async () => {
    const withKl: Loss = { ...loss, klCoefficient: 0.1, entropyCoefficient: 0.01 };
    const first = await make(1);
    const { rows } = await rowsOf(first.policy, 1);
    await first.trainer.update({ rows, seed: 1 }, withKl, optimiser);
    await first.trainer.save(directory);
    const expected = await first.trainer.update({ rows, seed: 2 }, withKl, optimiser);
    const second = await make(2);
    await second.trainer.load(directory);
    expect(second.trainer.policyVersion).toBe(1);
    expect(await second.trainer.update({ rows, seed: 2 }, withKl, optimiser)).toEqual(expected);
    expect(await second.host.exportWeights()).toEqual(await first.host.exportWeights());
  });

  it("does not depend on how rows are packed, and leaves context tokens alone", async () => {
    const { policy, host } = await make(3);
    const { rows } = await rowsOf(policy, 1);
    const flat = rows.map(({ trajectory }) => trajectory.segments[1]!);
    const settings = { ...loss, adam: optimiser, minibatches: 1, seed: 1 };
    const engineRows = rows.map(({ trajectory, advantage }, i) => {
      const prompt = trajectory.segments[0]!.tokens;
      const sampled = flat[i] as Extract<(typeof flat)[number], { kind: "sampled" }>;
      const length = prompt.length + sampled.tokens.length;
      const mask = new Uint8Array(length).fill(1, prompt.length);
      const logprobs = new Float32Array(length);
      logprobs.set(sampled.logprobs, prompt.length);
      return { tokens: Int32Array.of(...prompt, ...sampled.tokens), mask, logprobs, advantage, weight: 1, temperature: 1, group: "agent" };
    });
    const together = await host.policyGradientUpdate(engineRows, { ...settings, adam: { ...optimiser, learningRate: 0 } });
    const expectedLoss = -engineRows.reduce((sum, row) => sum + row.advantage * row.mask.reduce((a, b) => a + b, 0), 0) / together.tokens;
    expect(together.loss).toBeCloseTo(expectedLoss, 5);
  });

  it("refuses rows older than maxPolicyLag", async () => {
    const { policy, trainer } = await make(1);
    const { rows } = await rowsOf(policy, 1);
    await trainer.update({ rows, seed: 1 }, loss, optimiser);
    await trainer.update({ rows, seed: 2 }, loss, optimiser);
    await expect(trainer.update({ rows, seed: 3 }, loss, optimiser)).rejects.toMatchObject({ code: "policy.stale" });
    expect(trainer.policyVersion).toBe(2);
  });

  it("refuses a non-finite log-probability or advantage and keeps weights and version", async () => {
    const { policy, trainer, host } = await make(1);
    const { rows } = await rowsOf(policy, 1);
    const before = await host.exportWeights();
    const sampled = rows[0]!.trajectory.segments[1]!;
    const broken: TrainableTrajectory = { ...rows[0]!.trajectory, segments: [rows[0]!.trajectory.segments[0]!, { kind: "sampled", tokens: sampled.tokens, logprobs: new Float32Array(sampled.tokens.length).fill(NaN), policyVersion: 0 }] };
    await expect(trainer.update({ rows: [...rows, { ...rows[0]!, trajectory: broken }], seed: 1 }, loss, optimiser)).rejects.toMatchObject({ code: "engine.nonFinite" });
    await expect(trainer.update({ rows: rows.with(0, { ...rows[0]!, advantage: Infinity }), seed: 1 }, loss, optimiser)).rejects.toMatchObject({ code: "engine.request" });
    expect(await host.exportWeights()).toEqual(before);
    expect(trainer.policyVersion).toBe(0);
  });

  it("imitates sampled tokens with cross-entropy", async () => {
    const { policy, trainer } = await make(1, { maxPolicyLag: 10 });
    const { rows } = await rowsOf(policy, 1);
    const first = await trainer.update({ rows, seed: 1 }, { kind: "crossEntropy" }, optimiser);
    for (let i = 0; i < 5; i++) await trainer.update({ rows, seed: i }, { kind: "crossEntropy" }, { ...optimiser, learningRate: 5e-3 });
    const last = await trainer.update({ rows, seed: 9 }, { kind: "crossEntropy" }, optimiser);
    expect(last.loss).toBeLessThan(first.loss);
    expect(last.policyVersion).toBe(7);
  });

  it("names a checkpoint without a policy version", async () => {
    const { trainer } = await make(1);
    await expect(trainer.load(join(directory, "nowhere"))).rejects.toMatchObject({ code: "policy.checkpoint" });
  });
});

describe("EmbeddedPolicy", () => {
  it("labels samples asked for during an update with the version they come from", async () => {
    const { policy, trainer } = await make(1);
    const { rows } = await rowsOf(policy, 1);
    const update = trainer.update({ rows, seed: 1 }, loss, optimiser);
    const [during] = await policy.sample(requests(1, 5));
    await update;
    const [after] = await policy.sample(requests(1, 5));
    expect(during).toEqual(after);
    expect(during!.policyVersion).toBe(1);
  });

  it("refuses truncated sampling unless it is allowed", async () => {
    const strict = await make(1);
    const truncated = requests(1, 1).map((request) => ({ ...request, sampling: { ...sampling, topP: 0.9 } }));
    await expect(strict.policy.sample(truncated)).rejects.toMatchObject({ code: "policy.samplingMismatch" });
    const lax = await make(1, { allowSamplingMismatch: true });
    await expect(lax.policy.sample(truncated)).resolves.toHaveLength(1);
  });

  it("refuses a prompt that fills the context and stops at its end", async () => {
    const { policy } = await make(1);
    const long = (length: number): SampleRequest => ({ prompt: new Int32Array(length).fill(1), sampling: { ...sampling, maxTokens: 100 }, seed: 1 });
    await expect(policy.sample([long(32)])).rejects.toMatchObject({ code: "policy.contextLength" });
    const [sample] = await policy.sample([long(31)]);
    expect(sample!.tokens).toHaveLength(1);
  });
});
