import { SpadeError } from "../core/errors.ts";
import { adamStep, decayVector } from "./adam.ts";
import { crossEntropyGraph, logprobGraph } from "./losses.ts";
import { parameterFeeds, tableFeeds } from "./model.ts";
import type { Model } from "./model.ts";
import type { Outputs } from "./graph.ts";
import { pack } from "./packing.ts";
import type { PackItem, PackedChunk } from "./packing.ts";
import { result } from "./session.ts";
import type { Feed } from "./session.ts";
import type { SessionCache } from "./session-cache.ts";
import type { AdamSettings, CrossEntropyRow, StepMetrics } from "./types.ts";

/** Tokens per run of a training graph; more are accumulated over several runs. Bounds memory. */
export const chunkTokens = 2048;

/** A graph for each row length, under one name. */
export interface GraphFamily {
  readonly name: string;
  build(length: number): Outputs;
}

/** Runs training graphs over packed rows: losses, gradients, optimiser steps. */
export class Training {
  readonly model: Model;
  readonly #sessions: SessionCache;
  readonly #tables: Record<string, Feed>;
  readonly #decays: Float32Array;

  constructor(model: Model, sessions: SessionCache) {
    this.model = model;
    this.#sessions = sessions;
    this.#tables = tableFeeds(model.config);
    this.#decays = decayVector(model);
  }

  /** One step on Σ w·CE / Σ w. @throws SpadeError engine.nonFinite (nothing changed), engine.request */
  async crossEntropyStep(rows: readonly CrossEntropyRow[], adam: AdamSettings): Promise<StepMetrics> {
    const { loss, gradient, tokens } = await this.#crossEntropy(rows);
    return { loss, tokens, gradientNorm: await this.step(gradient, adam) };
  }

  /** Σ w·CE / Σ w from log-probabilities, without gradients. */
  async crossEntropyLoss(rows: readonly CrossEntropyRow[]): Promise<{ loss: number; tokens: number }> {
    const items = rows.map((row) => crossEntropyItem(row, this.model.config.contextLength));
    const logprobs = await this.logprobs(items.map((item) => ({ ...item, temperature: 1 })));
    let [loss, total, tokens] = [0, 0, 0];
    items.forEach((item, i) =>
      item.targets.forEach((t) => {
        const weight = rows[i]?.weights[t] ?? 0;
        loss -= weight * (logprobs[i]?.[t] ?? NaN);
        total += weight;
        tokens += 1;
      }),
    );
    return { loss: loss / total, tokens };
  }

  /** Log-probabilities of the target tokens (0 elsewhere) under softmax(logits / temperature) and the model's or other weights. */
  async logprobs(items: readonly (PackItem & { temperature: number })[], weights?: Float32Array): Promise<Float32Array[]> {
    const values = items.map((item) => new Float32Array(item.tokens.length));
    const family = { name: "logprobs", build: (length: number) => logprobGraph(this.model.config, length) };
    for (const chunk of this.pack(items)) {
      const inverseTemperature = perToken(chunk, ({ item }) => 1 / (items[item]?.temperature ?? 1));
      const outputs = await this.run(family, chunk, { inverseTemperature }, weights);
      scatter(chunk, result(outputs, "logprobs"), values);
    }
    return values;
  }

  pack(items: readonly PackItem[]): PackedChunk[] {
    const useful = items.some((item) => item.targets.length > 0);
    if (!useful) throw new SpadeError("engine.request", "No token of the batch carries loss. Give at least one row with a weight or a sampled token after its first token.");
    return pack(items, { contextLength: this.model.config.contextLength, maxTokens: chunkTokens });
  }

  async run(family: GraphFamily, chunk: PackedChunk, feeds: Record<string, Feed>, weights = this.model.weights): Promise<Record<string, Float32Array>> {
    const session = await this.#sessions.get(`${family.name} ${chunk.length}`, () => family.build(chunk.length));
    return session.run({ ...parameterFeeds(this.model.config, weights), ...this.#tables, ...chunk.feeds, ...feeds });
  }

  /** One optimiser step. Returns the gradient norm before clipping. @throws SpadeError engine.nonFinite (nothing changed) */
  step(gradient: Float32Array, settings: AdamSettings): Promise<number> {
    return adamStep(this.model, this.#sessions, { gradient, decays: this.#decays, settings });
  }

  /** Sums `loss` and `gradient` of a graph over chunks. @throws SpadeError engine.nonFinite */
  async accumulate(family: GraphFamily, chunks: readonly PackedChunk[], each: { feeds(chunk: PackedChunk): Record<string, Feed>; seen?(chunk: PackedChunk, outputs: Record<string, Float32Array>): void }): Promise<{ loss: number; gradient: Float32Array }> {
    let loss = 0;
    let gradient: Float32Array | undefined;
    for (const chunk of chunks) {
      const outputs = await this.run(family, chunk, each.feeds(chunk));
      loss += result(outputs, "loss")[0] ?? NaN;
      const part = result(outputs, "gradient");
      if (gradient === undefined) gradient = part;
      else for (let i = 0; i < part.length; i++) gradient[i] = (gradient[i] as number) + (part[i] as number);
      each.seen?.(chunk, outputs);
    }
    if (!Number.isFinite(loss) || gradient === undefined) {
      throw new SpadeError("engine.nonFinite", `The loss is ${loss}; the weights were not changed. Lower the learning rate, or go back to an earlier checkpoint.`);
    }
    return { loss, gradient };
  }

  async #crossEntropy(rows: readonly CrossEntropyRow[]): Promise<{ loss: number; gradient: Float32Array; tokens: number }> {
    const items = rows.map((row) => crossEntropyItem(row, this.model.config.contextLength));
    let [total, tokens] = [0, 0];
    items.forEach((item, i) => item.targets.forEach((t) => ((total += rows[i]?.weights[t] ?? 0), (tokens += 1))));
    const family = { name: "crossEntropy", build: (length: number) => crossEntropyGraph(this.model.config, length) };
    const feeds = (chunk: PackedChunk): Record<string, Feed> => ({
      weight: perToken(chunk, ({ item, token }) => (rows[item]?.weights[token] ?? 0) / total),
      inverseTemperature: perToken(chunk, () => 1),
    });
    return { ...(await this.accumulate(family, this.pack(items), { feeds })), tokens };
  }
}

/** A feed of shape [P, 1]. */
export function perToken(chunk: PackedChunk, value: (at: { item: number; token: number }) => number): Feed {
  return { data: Float32Array.from(chunk.predicted, value), shape: [chunk.predicted.length, 1] };
}

/** Writes values [P] of a chunk to their items' tokens. */
export function scatter(chunk: PackedChunk, values: Float32Array, into: readonly Float32Array[]): void {
  chunk.predicted.forEach(({ item, token }, p) => {
    const row = into[item];
    if (row !== undefined) row[token] = values[p] ?? NaN;
  });
}

/** @throws SpadeError engine.request */
export function checkLength(tokens: Int32Array, contextLength: number): void {
  if (tokens.length > 0 && tokens.length <= contextLength) return;
  throw new SpadeError("engine.request", `A training row has ${tokens.length} tokens, expected 1 to ${contextLength} (the model's context). Shorten or drop the row.`);
}

function crossEntropyItem(row: CrossEntropyRow, contextLength: number): PackItem {
  const { tokens, weights } = row;
  checkLength(tokens, contextLength);
  if (weights.length !== tokens.length || weights.some((w) => !Number.isFinite(w) || w < 0)) {
    throw new SpadeError("engine.request", `A training row has ${tokens.length} tokens and ${weights.length} weights, expected one finite weight of at least 0 per token. Correct the row.`);
  }
  return { tokens, targets: Array.from(weights, (_, t) => t).filter((t) => t > 0 && weights[t] !== 0) };
}
