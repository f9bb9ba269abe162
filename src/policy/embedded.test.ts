import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EngineHost } from "../engine/engine.ts";
import type { TransformerConfig } from "../engine/types.ts";
import { embedded } from "./embedded.ts";
import type { EmbeddedOptions, EmbeddedPolicy, EmbeddedTrainer } from "./embedded.ts";
import type { Loss, Optimiser, TrainingRow } from "./policy.ts";
import { contractLoss, policyContract, rewardedRows, trainerContract, type TrainerSubject } from "./testing/contract.ts";

const config: TransformerConfig = { vocabularySize: 12, width: 16, layers: 2, heads: 2, feedForward: 24, contextLength: 32, ropeBase: 1000 };
const options: EmbeddedOptions = { stopToken: 11, maxPolicyLag: 1, keepReference: true, allowSamplingMismatch: false };
const optimiser: Optimiser = { learningRate: 2e-2, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0, maxGradientNorm: 1, minibatches: 2 };
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

const prompt = (i: number): Int32Array => Int32Array.of(1, 2, 3 + (i % 4));
const rowsOf = async (policy: EmbeddedPolicy, seed: number): Promise<TrainingRow[]> => (await rewardedRows({ policy, prompt }, seed)).rows;

async function subject(): Promise<TrainerSubject> {
  const { policy, trainer, host } = await make(1);
  return { policy, trainer, stopToken: options.stopToken, learningRate: optimiser.learningRate, prompt, another: () => make(2), [Symbol.asyncDispose]: () => host.close() };
}

policyContract("embedded", subject);
trainerContract("embedded", subject);

describe("EmbeddedTrainer", () => {
  it("goes on from a checkpoint as if it had never stopped, KL reference included", async () => {
    const withKl: Loss = { ...contractLoss, klCoefficient: 0.1, entropyCoefficient: 0.01 };
    const first = await make(1);
    const rows = await rowsOf(first.policy, 1);
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
    const rows = await rowsOf(policy, 1);
    const flat = rows.map(({ trajectory }) => trajectory.segments[1]!);
    const settings = { ...contractLoss, adam: optimiser, minibatches: 1, seed: 1 };
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

  it("names a checkpoint without a policy version", async () => {
    const { trainer } = await make(1);
    await expect(trainer.load(join(directory, "nowhere"))).rejects.toMatchObject({ code: "policy.checkpoint" });
  });
});

describe("EmbeddedPolicy", () => {
  it("refuses truncated sampling unless it is allowed", async () => {
    const strict = await make(1);
    const truncated = [{ prompt: prompt(0), sampling: { ...sampling, topP: 0.9 }, seed: 1 }];
    await expect(strict.policy.sample(truncated)).rejects.toMatchObject({ code: "policy.samplingMismatch" });
    const lax = await make(1, { allowSamplingMismatch: true });
    await expect(lax.policy.sample(truncated)).resolves.toHaveLength(1);
  });

});
