import { SpadeError } from "../core/errors.ts";
import { Rng } from "../core/seed.ts";
import { prefillGraph, stepGraph } from "./decoding.ts";
import { KvCache } from "./kv-cache.ts";
import { parameterFeeds, tableFeeds } from "./model.ts";
import type { Model } from "./model.ts";
import { result } from "./session.ts";
import type { Feed } from "./session.ts";
import type { SessionCache } from "./session-cache.ts";
import { drawToken } from "./token-sampler.ts";
import { noToken } from "./transformer.ts";
import { decodingSlots } from "./types.ts";
import type { EngineSample, EngineSampleRequest } from "./types.ts";

/** Free slots that are worth a prefill while others still decode. */
const refill = 16;
/** Prompt tokens, padding included, of one prefill run. */
const prefillTokens = 4096;
const masked = -1e9;

interface Sequence {
  readonly index: number;
  readonly request: EngineSampleRequest;
  readonly rng: Rng;
  readonly limit: number;
  readonly tokens: number[];
  readonly logprobs: number[];
}

/**
 * Samples one continuation per request. Requests start in the order of their prompts' lengths; a finished sequence leaves
 * the batch and waiting ones take its place; equal prompts are prefilled once. @throws SpadeError engine.request, engine.contextLength, engine.nonFinite
 */
export async function sample(model: Model, sessions: SessionCache, requests: readonly EngineSampleRequest[]): Promise<EngineSample[]> {
  requests.forEach((request) => checkRequest(request, model));
  return new Decoder(model, sessions, requests).run();
}

class Decoder {
  readonly #model: Model;
  readonly #sessions: SessionCache;
  readonly #feeds: Record<string, Feed>;
  readonly #cache: KvCache;
  readonly #waiting: Sequence[];
  /** In the order of the cache's rows. */
  readonly #active: Sequence[] = [];
  readonly #samples: EngineSample[] = [];

  constructor(model: Model, sessions: SessionCache, requests: readonly EngineSampleRequest[]) {
    this.#model = model;
    this.#sessions = sessions;
    this.#feeds = { ...parameterFeeds(model.config, model.weights), ...tableFeeds(model.config) };
    this.#cache = new KvCache(model.config, Math.min(decodingSlots, requests.length));
    this.#waiting = requests
      .map((request, index) => ({ index, request, rng: new Rng(request.seed), limit: Math.min(request.maxTokens, model.config.contextLength - request.prompt.length), tokens: [], logprobs: [] }))
      .sort((a, b) => comparePrompts(a.request.prompt, b.request.prompt) || a.index - b.index);
  }

  async run(): Promise<EngineSample[]> {
    while (this.#waiting.length + this.#active.length > 0) {
      const free = decodingSlots - this.#active.length;
      if (free >= Math.min(refill, this.#waiting.length)) await this.#start(this.#waiting.splice(0, free));
      if (this.#active.length > 0) await this.#step();
    }
    return this.#samples;
  }

  /** Prefills sequences in sub-batches and draws their first tokens. */
  async #start(sequences: readonly Sequence[]): Promise<void> {
    let rest = groupByPrompt(sequences);
    while (rest.length > 0) {
      let count = 1;
      while (count < rest.length && (count + 1) * (rest[count]?.[0]?.request.prompt.length ?? 0) <= prefillTokens) count++;
      await this.#prefill(rest.slice(0, count));
      rest = rest.slice(count);
    }
  }

  /** `groups` share a prompt each and are sorted by its length. */
  async #prefill(groups: readonly (readonly Sequence[])[]): Promise<void> {
    const prompts = groups.map(([first]) => first?.request.prompt ?? new Int32Array());
    const outputs = await (await this.#sessions.get("prefill", () => prefillGraph(this.#model.config))).run({ ...this.#feeds, ...prefillFeeds(prompts) });
    const padded = prompts.at(-1)?.length ?? 0;
    groups.forEach((group, from) => {
      for (const sequence of group) {
        this.#cache.addRow(outputs, { from, padded, length: sequence.request.prompt.length });
        this.#active.push(sequence);
        this.#draw(sequence, result(outputs, "logits"), from);
      }
    });
    this.#retire();
  }

  async #step(): Promise<void> {
    const session = await this.#sessions.get("step", () => stepGraph(this.#model.config));
    const count = this.#active.length;
    const outputs = await session.run({
      ...this.#feeds,
      ...this.#cache.feeds(),
      tokens: { data: Int32Array.from(this.#active, ({ tokens }) => tokens.at(-1) ?? noToken), shape: [count] },
      previous: { data: Int32Array.from(this.#active, ({ tokens, request }) => tokens.at(-2) ?? request.prompt.at(-1) ?? noToken), shape: [count] },
      positions: { data: Int32Array.from(this.#cache.lengths), shape: [count, 1] },
    });
    this.#cache.append(result(outputs, "columns"));
    this.#active.forEach((sequence, row) => this.#draw(sequence, result(outputs, "logits"), row));
    this.#retire();
  }

  #draw(sequence: Sequence, logits: Float32Array, row: number): void {
    const size = this.#model.config.vocabularySize;
    const { token, logprob } = drawToken(logits.subarray(row * size, (row + 1) * size), sequence.request, sequence.rng);
    if (!Number.isFinite(logprob)) throw new SpadeError("engine.nonFinite", "The model's logits are not finite, so nothing can be sampled. Go back to an earlier checkpoint.");
    sequence.tokens.push(token);
    sequence.logprobs.push(logprob);
  }

  /** Takes finished sequences out of the batch, last row first. */
  #retire(): void {
    for (let row = this.#active.length - 1; row >= 0; row--) {
      const sequence = this.#active[row];
      if (sequence === undefined) continue;
      const { request, tokens, logprobs, limit, index } = sequence;
      const stopped = tokens.at(-1) === request.stopToken;
      if (!stopped && tokens.length < limit) continue;
      this.#samples[index] = { tokens: Int32Array.from(tokens), logprobs: Float32Array.from(logprobs), stop: stopped ? "stop" : "length" };
      this.#cache.removeRow(row);
      const last = this.#active.pop();
      if (last !== undefined && last !== sequence) this.#active[row] = last;
    }
  }
}

function prefillFeeds(prompts: readonly Int32Array[]): Record<string, Feed> {
  const length = prompts.at(-1)?.length ?? 0;
  const tokens = new Int32Array(prompts.length * length);
  const previous = new Int32Array(tokens.length).fill(noToken);
  prompts.forEach((prompt, row) => {
    tokens.set(prompt, row * length);
    previous.set(prompt.subarray(0, -1), row * length + 1);
  });
  const mask = new Float32Array(length * length).fill(masked);
  for (let t = 0; t < length; t++) mask.fill(0, t * length, t * length + t + 1);
  return {
    tokens: { data: tokens, shape: [prompts.length, length] },
    previous: { data: previous, shape: [prompts.length, length] },
    positions: { data: tokens.map((_, i) => i % length), shape: [prompts.length, length] },
    last: { data: Int32Array.from(prompts, (prompt, row) => row * length + prompt.length - 1), shape: [prompts.length] },
    mask: { data: mask, shape: [length, length] },
  };
}

/** By length, then by content, so that equal prompts are neighbours. */
function comparePrompts(a: Int32Array, b: Int32Array): number {
  if (a.length !== b.length) return a.length - b.length;
  const different = a.findIndex((token, i) => token !== b[i]);
  return different === -1 ? 0 : (a[different] ?? 0) - (b[different] ?? 0);
}

function groupByPrompt(sequences: readonly Sequence[]): Sequence[][] {
  const groups: Sequence[][] = [];
  for (const sequence of sequences) {
    const group = groups.at(-1);
    if (group?.[0] !== undefined && comparePrompts(group[0].request.prompt, sequence.request.prompt) === 0) group.push(sequence);
    else groups.push([sequence]);
  }
  return groups;
}

function checkRequest(request: EngineSampleRequest, model: Model): void {
  const { prompt, temperature, topP, topK, maxTokens } = request;
  const { contextLength, vocabularySize } = model.config;
  if (prompt.length >= contextLength) {
    throw new SpadeError("engine.contextLength", `A prompt has ${prompt.length} tokens, expected at most ${contextLength - 1} (the context of ${contextLength} less one token to sample). Shorten the prompt.`);
  }
  const complain = (what: string): never => {
    throw new SpadeError("engine.request", `A sampling request is invalid: ${what}. Correct the request.`);
  };
  if (prompt.length === 0) complain("its prompt is empty");
  const unknown = prompt.find((token) => token < 0 || token >= vocabularySize);
  if (unknown !== undefined) complain(`token ${unknown} is outside the vocabulary of ${vocabularySize}`);
  if (!(temperature >= 0)) complain(`temperature ${temperature}, expected at least 0`);
  if (!(topP > 0 && topP <= 1)) complain(`topP ${topP}, expected above 0 and at most 1`);
  if (!(topK >= 0)) complain(`topK ${topK}, expected at least 0`);
  if (!(maxTokens >= 1)) complain(`maxTokens ${maxTokens}, expected at least 1`);
}
