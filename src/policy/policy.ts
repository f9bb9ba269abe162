import type { ChatMessage, Prompt } from "../core/chat.ts";
import type { TrainableTrajectory } from "../core/trajectory.ts";

/** Parameters of sampling. `topP: 1` and `topK: 0` mean no truncation; `temperature: 0` takes the most likely token at every step (greedy evaluation). */
export interface Sampling {
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
  readonly maxTokens: number;
}

export interface SampleRequest<P extends Prompt = Int32Array> {
  /** Shape [T]; token ids, never text (but for a `TextPolicy`). */
  readonly prompt: P;
  readonly sampling: Sampling;
  readonly seed: number;
  /** Names the conversation that the prompt goes on with, such as an episode: a server of several replicas keeps its prefix cache if all of one go to the same. */
  readonly session?: string;
}

export interface Sample {
  /** Shape [T]; includes the stop token when `stop` is "stop". */
  readonly tokens: Int32Array;
  /** Shape [T]; natural logarithms under the distribution the loss uses. */
  readonly logprobs: Float32Array;
  readonly stop: "stop" | "length";
  readonly policyVersion: number;
}

export interface SampleOptions {
  /** Gives up when it aborts, as far as the policy can. */
  readonly signal?: AbortSignal;
}

/** A policy that samples. One sample per request, in order; equal requests at one version give equal samples. */
export interface Policy {
  readonly contextLength: number;
  /** Requests made one by one are served side by side, each as soon as it can; a policy without this is asked in batches (`SamplingTasks`). */
  readonly concurrent?: boolean;
  sample(requests: readonly SampleRequest[], options?: SampleOptions): Promise<readonly Sample[]>;
}

/** What a policy says that gives no token ids. Nothing in it can be trained on. */
export interface TextSample {
  readonly text: string;
  /** As the server counts them; 0 when it does not say. */
  readonly tokenCount: number;
  /** `context`: the chat is longer than the model's context, and nothing was said. */
  readonly stop: Sample["stop"] | "context";
  readonly policyVersion: number;
}

/**
 * A policy behind an endpoint that takes chats and gives text. It plays, designs and is evaluated as any other, by a renderer of its
 * kind; what it says has no tokens, so its trajectories are empty and no trainer takes them.
 */
export interface TextPolicy {
  /** Infinity when it is not known: the server says when a chat is too long. */
  readonly contextLength: number;
  /** As of a `Policy`. */
  readonly concurrent?: boolean;
  sample(requests: readonly SampleRequest<readonly ChatMessage[]>[], options?: SampleOptions): Promise<readonly TextSample[]>;
}

/** What a policy of either kind gives. */
export type AnySample = Sample | TextSample;

/** A policy of either kind, for those who do not train it. It is asked by the renderer that came with it, so that prompts are of its kind. */
export interface AnyPolicy {
  readonly contextLength: number;
  /** As of a `Policy`. */
  readonly concurrent?: boolean;
  sample(requests: readonly SampleRequest<Prompt>[], options?: SampleOptions): Promise<readonly AnySample[]>;
}

/** Loss of one update. */
export type Loss =
  | { readonly kind: "crossEntropy" }
  | {
      readonly kind: "policyGradient";
      /** Clip range of the importance ratio: [1 - low, 1 + high]. */
      readonly clipLow: number;
      readonly clipHigh: number;
      /** Upper bound of the sampler-to-trainer importance weight (truncated importance sampling). */
      readonly importanceCap: number;
      /** Weight of the low-variance KL estimate to the reference policy; 0 switches it off. */
      readonly klCoefficient: number;
      readonly entropyCoefficient: number;
    };

export interface Optimiser {
  readonly learningRate: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  readonly weightDecay: number;
  readonly maxGradientNorm: number;
  /** Rows are shuffled by the batch's seed and split into this many optimiser steps. */
  readonly minibatches: number;
}

/** One row of a batch. `weight` scales the row's token losses (the designer's up-weighting). */
export interface TrainingRow {
  readonly trajectory: TrainableTrajectory;
  readonly advantage: number;
  readonly weight: number;
  /** Temperature the row was sampled at, above 0: the loss's distribution is softmax(logits / temperature). */
  readonly temperature: number;
}

export interface UpdateMetrics {
  readonly policyVersion: number;
  readonly loss: number;
  readonly gradientNorm: number;
  /** Mean of -log p over sampled tokens, per role. */
  readonly entropy: Readonly<Record<string, number>>;
  /** Mean low-variance KL from the sampler's policy, per role. */
  readonly kl: Readonly<Record<string, number>>;
  readonly clipFraction: number;
  /** Largest |sampler - trainer| log-probability before the first step, over the batch. */
  readonly logprobGap: number;
  readonly tokens: number;
}

/** Makes new policy versions. Does no arithmetic on advantages and refuses rows older than `maxPolicyLag`. */
export interface Trainer {
  readonly policyVersion: number;
  update(batch: { readonly rows: readonly TrainingRow[]; readonly seed: number }, loss: Loss, optimiser: Optimiser): Promise<UpdateMetrics>;
  /** Writes weights and optimiser state into an existing directory. */
  save(directory: string): Promise<void>;
  load(directory: string): Promise<void>;
}
