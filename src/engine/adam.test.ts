import { expect, it } from "vitest";
import { adamGraph, adamStep } from "./adam.ts";
import { evaluate } from "./reference.ts";
import { SessionCache } from "./session-cache.ts";
import { freshOptimiser } from "./model.ts";
import type { Model } from "./model.ts";
import { initialWeights } from "./transformer.ts";

const config = { vocabularySize: 5, width: 4, layers: 1, heads: 1, feedForward: 4, contextLength: 8, ropeBase: 100 };
const settings = { learningRate: 0.1, beta1: 0.8, beta2: 0.9, epsilon: 1e-3, weightDecay: 0.5, maxGradientNorm: 2 };

/** AdamW of one weight as written in the paper. */
function expectedWeight(weight: number, gradients: readonly number[], decays: boolean): number {
  let [w, m, v] = [weight, 0, 0];
  gradients.forEach((g, i) => {
    m = settings.beta1 * m + (1 - settings.beta1) * g;
    v = settings.beta2 * v + (1 - settings.beta2) * g * g;
    const [mHat, vHat] = [m / (1 - settings.beta1 ** (i + 1)), v / (1 - settings.beta2 ** (i + 1))];
    w -= settings.learningRate * (mHat / (Math.sqrt(vHat) + settings.epsilon) + (decays ? settings.weightDecay * w : 0));
  });
  return w;
}

it("follows the formula over several steps, clips, and decays where told", async () => {
  const weights = initialWeights(config, 1).map((x) => x + 0.5);
  const model: Model = { config, weights, optimiser: freshOptimiser(config) };
  const decays = Float32Array.from(weights, (_, i) => i % 2);
  const sessions = new SessionCache({ threads: 1, limit: 2 });
  const gradients = [0.3, 5, -0.02].map((scale) => weights.map((_, i) => scale * Math.sin(i + 1)));
  const norms = gradients.map((gradient) => Math.sqrt(gradient.reduce((sum, g) => sum + g * g, 0)));
  for (const [i, gradient] of gradients.entries()) expect(await adamStep(model, sessions, { gradient, decays, settings })).toBeCloseTo(norms[i]!, 3);
  expect(norms.filter((norm) => norm > settings.maxGradientNorm)).not.toHaveLength(0);
  model.weights.forEach((weight, at) => {
    const clipped = gradients.map((gradient, i) => gradient[at]! * Math.min(1, settings.maxGradientNorm / norms[i]!));
    expect(weight).toBeCloseTo(expectedWeight(weights[at]!, clipped, at % 2 === 1), 4);
  });
  expect(model.optimiser.step).toBe(3);
});

it("leaves a zero gradient's weights in place", () => {
  const vector = (value: number): { shape: number[]; data: Float64Array } => ({ shape: [3], data: new Float64Array(3).fill(value) });
  const scalar = (value: number): { shape: number[]; data: Float64Array } => ({ shape: [], data: Float64Array.of(value) });
  const [weights, norm] = evaluate([adamGraph(3)["newWeights"]!, adamGraph(3)["norm"]!], {
    weights: vector(2), gradient: vector(0), first: vector(0), second: vector(0), decays: vector(0),
    beta1: scalar(0.9), beta2: scalar(0.9), maxGradientNorm: scalar(1), rate: scalar(1), correction: scalar(1), epsilon: scalar(1e-8), decay: scalar(0),
  });
  expect([...weights!.data]).toEqual([2, 2, 2]);
  expect(norm!.data[0]).toBe(0);
});

it("refuses a non-finite gradient and changes nothing", async () => {
  const weights = initialWeights(config, 1);
  const model: Model = { config, weights, optimiser: freshOptimiser(config) };
  const before = { ...model };
  const gradient = new Float32Array(weights.length).fill(NaN, 3, 4);
  await expect(adamStep(model, new SessionCache({ threads: 1, limit: 1 }), { gradient, decays: weights, settings })).rejects.toMatchObject({ code: "engine.nonFinite" });
  expect(model).toEqual(before);
});
