import { SpadeError } from "../core/errors.ts";
import { add, div, input, min, mul, reshape, sqrt, square, sub, sum } from "./graph.ts";
import type { Outputs, Tensor } from "./graph.ts";
import type { Model } from "./model.ts";
import { result } from "./session.ts";
import type { Feed } from "./session.ts";
import type { SessionCache } from "./session-cache.ts";
import { parameterSpecs, sizeOf } from "./transformer.ts";
import type { AdamSettings } from "./types.ts";

/**
 * One AdamW step on flat vectors [size]: global-norm clipping, bias correction, decoupled decay where `decays` is 1.
 * Outputs `newWeights`, `newFirst`, `newSecond`, and the gradient's `norm` before clipping.
 */
export function adamGraph(size: number): Outputs {
  const vector = (name: string): Tensor => input(name, [size]);
  const scalar = (name: string): Tensor => input(name, []);
  const gradient = vector("gradient");
  const norm = sqrt(reshape(sum(square(gradient), [0]), []));
  const clipped = mul(gradient, min(1, div(scalar("maxGradientNorm"), norm)));
  const average = (name: string, beta: Tensor, value: Tensor): Tensor => add(mul(vector(name), beta), mul(value, sub(1, beta)));
  const first = average("first", scalar("beta1"), clipped);
  const second = average("second", scalar("beta2"), square(clipped));
  const step = div(mul(first, scalar("rate")), add(sqrt(mul(second, scalar("correction"))), scalar("epsilon")));
  const weights = vector("weights");
  const decayed = sub(weights, mul(weights, mul(vector("decays"), scalar("decay"))));
  return { newWeights: sub(decayed, step), newFirst: first, newSecond: second, norm };
}

/** 1 for every weight that decays (the matrices), 0 for the gains. */
export function decayVector(model: Model): Float32Array {
  const decaying = parameterSpecs(model.config).reduce((total, { shape, gain }) => total + (gain ? 0 : sizeOf(shape)), 0);
  return new Float32Array(model.weights.length).fill(1, 0, decaying);
}

/** Gives the model new weights and moments; the old vectors are left as they are. Returns the gradient norm. @throws SpadeError engine.nonFinite, the model is then unchanged */
export async function adamStep(model: Model, sessions: SessionCache, at: { gradient: Float32Array; decays: Float32Array; settings: AdamSettings }): Promise<number> {
  const size = model.weights.length;
  const { first, second } = model.optimiser;
  const step = model.optimiser.step + 1;
  const { beta1, beta2, epsilon, learningRate, weightDecay, maxGradientNorm } = at.settings;
  const scalars = { beta1, beta2, epsilon, maxGradientNorm, decay: learningRate * weightDecay, rate: learningRate / (1 - beta1 ** step), correction: 1 / (1 - beta2 ** step) };
  const vectors = { weights: model.weights, gradient: at.gradient, decays: at.decays, first, second };
  const session = await sessions.get("adam", () => adamGraph(size));
  const outputs = await session.run({
    ...Object.fromEntries(Object.entries(vectors).map(([name, data]): [string, Feed] => [name, { data, shape: [size] }])),
    ...Object.fromEntries(Object.entries(scalars).map(([name, value]): [string, Feed] => [name, { data: Float32Array.of(value), shape: [] }])),
  });
  const norm = result(outputs, "norm")[0] ?? NaN;
  if (!Number.isFinite(norm)) {
    throw new SpadeError("engine.nonFinite", `The gradient norm is ${norm}; the weights were not changed. Lower the learning rate, or go back to an earlier checkpoint.`);
  }
  model.weights = result(outputs, "newWeights");
  model.optimiser = { step, first: result(outputs, "newFirst"), second: result(outputs, "newSecond") };
  return norm;
}
