/** Sequences that the engine decodes at once. */
export const decodingSlots = 64;

/** Shape of a decoder-only transformer. `width` is a multiple of `heads`, and `width / heads` is even. */
export interface TransformerConfig {
  readonly vocabularySize: number;
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  readonly feedForward: number;
  readonly contextLength: number;
  readonly ropeBase: number;
}

/** Where the weights of a new engine come from. */
export type WeightSource =
  | { readonly kind: "seed"; readonly config: TransformerConfig; readonly seed: number }
  | { readonly kind: "weights"; readonly config: TransformerConfig; readonly weights: Record<string, Float32Array> }
  | { readonly kind: "directory"; readonly directory: string };

export interface EngineOptions {
  readonly source: WeightSource;
  /** Threads of ONNX Runtime. */
  readonly threads: number;
}

export interface EngineSampleRequest {
  /** Shape [T], 1 ≤ T < contextLength. */
  readonly prompt: Int32Array;
  /** 0 takes the most probable token (log-probabilities are then those of temperature 1). */
  readonly temperature: number;
  /** At most this much probability mass is kept; 1 keeps all. */
  readonly topP: number;
  /** At most this many tokens are kept; 0 keeps all. */
  readonly topK: number;
  readonly maxTokens: number;
  readonly stopToken: number;
  readonly seed: number;
}

export interface EngineSample {
  /** Shape [T]; the stop token is included when `stop` is "stop". */
  readonly tokens: Int32Array;
  /** Shape [T]; under softmax(logits / temperature) without truncation. */
  readonly logprobs: Float32Array;
  readonly stop: "stop" | "length";
}

export interface CrossEntropyRow {
  /** Shape [T], T ≤ contextLength. */
  readonly tokens: Int32Array;
  /** Shape [T]: weight of predicting token t from the tokens before it; entry 0 is ignored. */
  readonly weights: Float32Array;
}

/** AdamW: decoupled decay (not on norms), bias correction, clipping of the global gradient norm. */
export interface AdamSettings {
  readonly learningRate: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  readonly weightDecay: number;
  readonly maxGradientNorm: number;
}

export interface StepMetrics {
  readonly loss: number;
  /** Before clipping. */
  readonly gradientNorm: number;
  /** Tokens that carried loss. */
  readonly tokens: number;
}

export interface PolicyGradientRow {
  /** Shape [T]. */
  readonly tokens: Int32Array;
  /** Shape [T]; 1 where the token was sampled. Entry 0 must be 0. */
  readonly mask: Uint8Array;
  /** Shape [T]; the sampler's log-probability where `mask` is 1. */
  readonly logprobs: Float32Array;
  readonly advantage: number;
  readonly weight: number;
  readonly temperature: number;
  /** Metrics are reported per group (the role). */
  readonly group: string;
}

export interface PolicyGradientSettings {
  readonly clipLow: number;
  readonly clipHigh: number;
  readonly importanceCap: number;
  readonly klCoefficient: number;
  readonly entropyCoefficient: number;
  readonly adam: AdamSettings;
  /** Rows are shuffled by `seed` and split into this many optimiser steps. */
  readonly minibatches: number;
  readonly seed: number;
}

export interface PolicyGradientMetrics {
  /** Mean over the optimiser steps. */
  readonly loss: number;
  /** Mean over the optimiser steps, before clipping. */
  readonly gradientNorm: number;
  /** Mean of -log p (trainer, before the first step) over sampled tokens, per group. */
  readonly entropy: Readonly<Record<string, number>>;
  /** Mean low-variance KL between sampler and trainer before the first step, per group. */
  readonly kl: Readonly<Record<string, number>>;
  /** Share of sampled tokens whose ratio the clip cut, over all steps. */
  readonly clipFraction: number;
  /** Largest |sampler - trainer| log-probability before the first step. */
  readonly logprobGap: number;
  readonly tokens: number;
}
