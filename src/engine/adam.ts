import { SpadeError } from "../core/errors.ts";
import type { OptimiserState } from "./model.ts";
import type { AdamSettings } from "./types.ts";

/** Euclidean norm, summed in float64. */
export function norm(values: Float32Array): number {
  let total = 0;
  for (const value of values) total += value * value;
  return Math.sqrt(total);
}

/**
 * One AdamW step in place on flat vectors: global-norm clipping, bias correction, decoupled decay of the first `decaying`
 * weights (the matrices). Nothing changes when it throws. Returns the gradient norm before clipping.
 * @throws SpadeError engine.nonFinite
 */
export function adamStep(at: { weights: Float32Array; gradient: Float32Array; state: OptimiserState; decaying: number }, settings: AdamSettings): number {
  const { weights, gradient, state, decaying } = at;
  const gradientNorm = norm(gradient);
  if (!Number.isFinite(gradientNorm)) {
    throw new SpadeError("engine.nonFinite", `The gradient norm is ${gradientNorm}; the weights were not changed. Lower the learning rate, or go back to an earlier checkpoint.`);
  }
  const { beta1, beta2, epsilon, learningRate, weightDecay, maxGradientNorm } = settings;
  const scale = gradientNorm > maxGradientNorm ? maxGradientNorm / gradientNorm : 1;
  state.step += 1;
  const rate = learningRate / (1 - beta1 ** state.step);
  const correction = 1 / (1 - beta2 ** state.step);
  const { first, second } = state;
  for (let i = 0; i < weights.length; i++) {
    const g = (gradient[i] as number) * scale;
    const m = (first[i] = beta1 * (first[i] as number) + (1 - beta1) * g);
    const v = (second[i] = beta2 * (second[i] as number) + (1 - beta2) * g * g);
    const w = weights[i] as number;
    const decay = i < decaying ? learningRate * weightDecay * w : 0;
    weights[i] = w - decay - (rate * m) / (Math.sqrt(v * correction) + epsilon);
  }
  return gradientNorm;
}
