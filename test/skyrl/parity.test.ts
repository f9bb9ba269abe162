import { afterAll, beforeAll, expect, test } from "vitest";
import { append, type TrainableTrajectory } from "../../src/core/trajectory.ts";
import { Rng } from "../../src/core/seed.ts";
import { EngineHost } from "../../src/engine/engine.ts";
import { parameterSpecs, sizeOf } from "../../src/engine/transformer.ts";
import type { TransformerConfig } from "../../src/engine/types.ts";
import { embedded } from "../../src/policy/embedded.ts";
import type { Policy, Trainer, TrainingRow, UpdateMetrics } from "../../src/policy/policy.ts";
import { connectTo, cosine, difference, loss, optimiser, rowLogprobs, type Served, sampledLogprobs, serve } from "./harness.ts";
import { normal, writeLlama } from "./model-files.ts";

/**
 * The embedded engine and the server on one model: a Llama is the embedded transformer whose embedding of the token before is zero. The
 * embedded engine trains all weights and the server a low-rank adapter, so an update's loss is the same and its direction alike, not equal.
 */
const config: TransformerConfig = { vocabularySize: 24, width: 64, layers: 2, heads: 4, feedForward: 96, contextLength: 64, ropeBase: 10_000 };
const stopToken = 23;
const maxPolicyLag = 1000;

interface Engine {
  readonly policy: Policy;
  readonly trainer: Trainer;
}

const stack = new AsyncDisposableStack();
let served: Served;
let weights: Record<string, Float32Array>;

beforeAll(async () => {
  const rng = new Rng(7);
  weights = Object.fromEntries(
    parameterSpecs(config).map(({ name, shape, gain }) => {
      const deviation = name === "previousEmbedding" ? 0 : gain ? 0.2 : name === "embedding" ? 0.4 : 0.15;
      return [name, Float32Array.from({ length: sizeOf(shape) }, () => Number(gain) + deviation * normal(rng))];
    }),
  );
  served = stack.use(await serve(await writeLlama(config, weights), "relative"));
});
afterAll(() => stack.disposeAsync());

async function onServer(): Promise<Engine> {
  return stack.use(await connectTo(served, { contextLength: config.contextLength, vocabularySize: config.vocabularySize, stopTokens: [stopToken], maxPolicyLag, lora: { rank: 8, seed: 1, trainAttention: true, trainMlp: true, trainUnembedding: true } }));
}

async function inProcess(): Promise<Engine> {
  const host = await EngineHost.create({ source: { kind: "weights", config, weights }, threads: 1 });
  stack.defer(() => host.close());
  return embedded(host, { stopToken, maxPolicyLag, keepReference: false, allowSamplingMismatch: false });
}

/** A recorded batch: rows of different lengths and weights, whose sampler was another policy, so that importance weights are not 1. */
async function recordedRows({ policy }: Engine): Promise<TrainingRow[]> {
  const prompts = Array.from({ length: 12 }, (_, i) => Int32Array.from({ length: 3 + (i % 5) * 2 }, (_, t) => 1 + ((i * 7 + t * 3) % 20)));
  const samples = await policy.sample(prompts.map((prompt, seed) => ({ prompt, seed, sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 6 + (seed % 3) * 7 } })));
  const rng = new Rng(3);
  return samples.map(({ tokens, logprobs, policyVersion }, i) => {
    const empty: TrainableTrajectory = { role: i % 3 === 0 ? "designer" : "agent", arm: "plain", segments: [{ kind: "prompt", tokens: prompts[i] ?? new Int32Array() }] };
    const trajectory = append(empty, { kind: "sampled", tokens, logprobs: logprobs.map((value) => value + 0.4 * normal(rng)), policyVersion });
    return { trajectory, advantage: normal(rng), weight: 1 + (i % 3), temperature: 1 };
  });
}

const batch = ["policyVersion", "loss", "clipFraction", "logprobGap", "tokens"] as const satisfies (keyof UpdateMetrics)[];

test("a recorded batch has the same loss and moves log-probabilities the same way in the embedded engine and on the server", async () => {
  const [own, theirs] = [await inProcess(), await onServer()];
  const rows = await recordedRows(own);
  const before = [await rowLogprobs(own.trainer, rows), await rowLogprobs(theirs.trainer, rows)] as const;
  difference(...before).forEach((gap) => expect(Math.abs(gap), "both engines see one model").toBeLessThan(1e-3));
  expect(Math.max(...difference(before[0], sampledLogprobs(rows)).map(Math.abs)), "the batch is off-policy").toBeGreaterThan(0.1);

  const learning = { ...optimiser, learningRate: 1e-3 };
  const [ours, other] = [await own.trainer.update({ rows, seed: 1 }, loss, learning), await theirs.trainer.update({ rows, seed: 1 }, loss, learning)];
  for (const key of batch) expect(other[key], key).toBeCloseTo(ours[key], 4);
  for (const role of ["agent", "designer"]) {
    expect(other.entropy[role], role).toBeCloseTo(ours.entropy[role] ?? NaN, 4);
    expect(other.kl[role], role).toBeCloseTo(ours.kl[role] ?? NaN, 4);
  }
  const moved = [difference(await rowLogprobs(own.trainer, rows), before[0]), difference(await rowLogprobs(theirs.trainer, rows), before[1])] as const;
  const signal = rows.map(({ advantage, weight }) => advantage * weight);
  const directions = { engines: cosine(...moved), embedded: cosine(moved[0], signal), server: cosine(moved[1], signal) };
  console.log(`Loss ${ours.loss} embedded, ${other.loss} on the server. Cosines: ${JSON.stringify(directions)}`);
  expect(directions.engines).toBeGreaterThan(0.7);
  expect(Math.min(directions.embedded, directions.server)).toBeGreaterThan(0.3);
});

/**
 * The server reports a mean over datums of means over positions; the client undoes that. Then the gradient of one row shrinks by its share of
 * the weights when rows without advantage join it, however long they are, as in the embedded engine.
 */
test("rows are reduced alike: a row's share of the gradient does not depend on lengths, prompts or the number of rows", async () => {
  const [own, theirs] = [await inProcess(), await onServer()];
  const rows = await recordedRows(own);
  const [first] = rows as [TrainingRow];
  const silent = rows.slice(1).map((row) => ({ ...row, advantage: 0 }));
  const batches = [[first], [first, ...silent.slice(0, 1)], [first, ...silent.slice(3, 5)], [{ ...first, weight: 3 * first.weight }, ...silent]];
  const norms = async ({ trainer }: Engine): Promise<number[]> => {
    const found: number[] = [];
    for (const each of batches) found.push((await trainer.update({ rows: each, seed: 1 }, loss, optimiser)).gradientNorm);
    return found.map((norm) => norm / (found[0] ?? NaN));
  };
  const [ours, other] = [await norms(own), await norms(theirs)];
  console.log(`Gradient norms relative to one row's: ${ours.map((norm) => norm.toFixed(5)).join(", ")} embedded, ${other.map((norm) => norm.toFixed(5)).join(", ")} on the server`);
  other.forEach((norm, i) => expect(norm).toBeCloseTo(ours[i] ?? NaN, 3));
  expect(new Set(ours.map((norm) => norm.toFixed(2))).size).toBe(batches.length);
});
