import { Rng } from "../../../core/seed.ts";
import type { Policy } from "../../policy.ts";
import type { Datum, SampledSequence, ServerLoss } from "../wire.ts";

export interface SampleCall {
  readonly prompt: Int32Array;
  readonly maxTokens: number;
  readonly temperature: number;
  readonly seed: number;
  readonly stop: readonly number[];
}

/** Weights as the scripted server keeps them. */
export interface ServedModel {
  sample(call: SampleCall): Promise<SampledSequence> | SampledSequence;
  logprobs(datum: Datum): Float32Array;
  /** Adds the gradient of a request. */
  accumulate(datums: readonly Datum[], loss: ServerLoss): void;
  /** One optimiser step; returns the gradient's norm. */
  step(adam: Readonly<Record<string, number>>): number;
  /** A copy that later changes leave alone. */
  copy(): ServedModel;
}

/** How the scripted server reduces losses, as real servers do. */
export type Reduction = "sum" | "datumMean";

/** A model small enough to check by hand: the logits of the next token depend on the last one only. Trained exactly, by Adam. */
export class TabularModel implements ServedModel {
  readonly #size: number;
  readonly #reduction: Reduction;
  #logits: Float64Array<ArrayBuffer>;
  #moments: { readonly mean: Float64Array<ArrayBuffer>; readonly square: Float64Array<ArrayBuffer>; readonly steps: number };
  #gradient: Float64Array<ArrayBuffer>;
  #datums = 0;

  constructor(size: number, reduction: Reduction, logits = new Float64Array(size * size)) {
    this.#size = size;
    this.#reduction = reduction;
    this.#logits = logits;
    this.#gradient = new Float64Array(size * size);
    this.#moments = { mean: new Float64Array(size * size), square: new Float64Array(size * size), steps: 0 };
  }

  sample({ prompt, maxTokens, temperature, seed, stop }: SampleCall): SampledSequence {
    const rng = new Rng(seed);
    const tokens: number[] = [];
    const logprobs: number[] = [];
    let last = prompt.at(-1) ?? 0;
    while (tokens.length < maxTokens && !stop.includes(tokens.at(-1) ?? -1)) {
      const row = this.#row(last);
      const token = temperature === 0 ? row.indexOf(Math.max(...row)) : draw(row.map((value) => Math.exp(value / temperature)), rng);
      tokens.push(token);
      logprobs.push(row[token] ?? NaN);
      last = token;
    }
    return { stopReason: stop.includes(last) ? "stop" : "length", tokens: Int32Array.from(tokens), logprobs: Float32Array.from(logprobs) };
  }

  logprobs({ tokens, targets }: Datum): Float32Array {
    return Float32Array.from(tokens, (token, t) => this.#row(token)[targets[t] ?? 0] ?? NaN);
  }

  accumulate(datums: readonly Datum[], loss: ServerLoss): void {
    for (const datum of datums) {
      const { weights } = datum.inputs;
      const total = weights === undefined ? datum.tokens.length : weights.reduce((a, b) => a + b, 0);
      const scale = this.#reduction === "sum" ? 1 : 1 / Math.max(total, 1e-9);
      this.logprobs(datum).forEach((now, t) => this.#add(datum.tokens[t] ?? 0, datum.targets[t] ?? 0, slope(datum, loss, now, t) * scale));
    }
    this.#datums += datums.length;
  }

  step({ learning_rate: rate = 0, beta1 = 0, beta2 = 0, eps = 0 }: Readonly<Record<string, number>>): number {
    const divisor = this.#reduction === "sum" ? 1 : this.#datums;
    const gradient = this.#gradient.map((value) => value / divisor);
    const steps = this.#moments.steps + 1;
    const mean = this.#moments.mean.map((value, i) => beta1 * value + (1 - beta1) * (gradient[i] ?? 0));
    const square = this.#moments.square.map((value, i) => beta2 * value + (1 - beta2) * (gradient[i] ?? 0) ** 2);
    this.#logits = this.#logits.map((value, i) => value - (rate * (mean[i] ?? 0)) / (1 - beta1 ** steps) / (Math.sqrt((square[i] ?? 0) / (1 - beta2 ** steps)) + eps));
    this.#moments = { mean, square, steps };
    this.#gradient = new Float64Array(gradient.length);
    this.#datums = 0;
    return Math.hypot(...gradient);
  }

  copy(): TabularModel {
    const copy = new TabularModel(this.#size, this.#reduction, this.#logits);
    copy.#moments = this.#moments;
    return copy;
  }

  /** Log-probabilities after a token. */
  #row(token: number): number[] {
    const row = [...this.#logits.subarray(token * this.#size, (token + 1) * this.#size)];
    const total = Math.log(row.reduce((sum, value) => sum + Math.exp(value), 0));
    return row.map((value) => value - total);
  }

  /** Adds `slope` times the gradient of one log-probability. */
  #add(token: number, target: number, slopeOfLoss: number): void {
    this.#row(token).forEach((value, next) => {
      const i = token * this.#size + next;
      this.#gradient[i] = (this.#gradient[i] ?? 0) + slopeOfLoss * (Number(next === target) - Math.exp(value));
    });
  }
}

/** Derivative of a token's loss by its log-probability. */
function slope({ inputs }: Datum, loss: ServerLoss, now: number, t: number): number {
  if (loss.name === "cross_entropy") return -(inputs["weights"]?.[t] ?? 1);
  const [advantage, weight] = [inputs["advantages"]?.[t] ?? 0, inputs["weights"]?.[t] ?? 1];
  const ratio = Math.exp(now - (inputs["logprobs"]?.[t] ?? 0));
  const { clip_low_threshold: low = 0, clip_high_threshold: high = Infinity } = loss.config ?? {};
  const bounded = Math.min(high, Math.max(low, ratio));
  return ratio * advantage <= bounded * advantage ? -ratio * advantage * weight : 0;
}

function draw(weights: readonly number[], rng: Rng): number {
  let rest = rng.float() * weights.reduce((a, b) => a + b, 0);
  for (const [i, weight] of weights.entries()) {
    rest -= weight;
    if (rest < 0) return i;
  }
  return weights.length - 1;
}

/** A policy behind the server's interface, such as the scripted one: it learns nothing, and every token it sampled was certain. */
export function policyModel(policy: Policy): ServedModel {
  const model: ServedModel = {
    sample: async ({ prompt, maxTokens, temperature, seed }) => {
      const [sample] = await policy.sample([{ prompt, seed, sampling: { temperature, topP: 1, topK: 0, maxTokens } }]);
      if (sample === undefined) throw new Error("The policy gave no sample.");
      return { stopReason: sample.stop, tokens: sample.tokens, logprobs: sample.logprobs };
    },
    logprobs: ({ tokens }) => new Float32Array(tokens.length),
    accumulate: () => undefined,
    step: () => 0,
    copy: () => model,
  };
  return model;
}
