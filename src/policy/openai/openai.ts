import type { ChatMessage } from "../../core/chat.ts";
import { SpadeError } from "../../core/errors.ts";
import { checkRequest, checkSampled } from "../checks.ts";
import type { Policy, Sample, SampleOptions, SampleRequest, Sampling, TextPolicy, TextSample } from "../policy.ts";
import { type Endpoint, isContextOverflow } from "./endpoint.ts";
import { readChat, readTokens } from "./wire.ts";

export interface TextOptions {
  /** Tokens of the model's context, where it is known. */
  readonly contextLength?: number;
  /** Ask for replies as a stream of events. */
  readonly stream: boolean;
}

/**
 * Connects a policy that sends chats and takes text, from any endpoint.
 * @throws SpadeError policy.unreachable, policy.key, policy.model
 */
export async function connectText(endpoint: Endpoint, { contextLength, stream }: TextOptions): Promise<TextPolicy> {
  await endpoint.servedModel();
  const one = async ({ prompt, sampling, seed, ...named }: SampleRequest<readonly ChatMessage[]>, signal: AbortSignal): Promise<TextSample> => {
    const body = { model: endpoint.model, messages: prompt, ...samplingFields(sampling, seed), stream, ...(stream ? { stream_options: { include_usage: true } } : {}) };
    try {
      const { text, stop, usage } = await endpoint.reply({ path: "/chat/completions", body, signal, ...named }, readChat);
      return { text, stop, tokenCount: usage?.outputTokens ?? 0, policyVersion: 0 };
    } catch (error) {
      if (!isContextOverflow(error)) throw error;
      endpoint.spending.refuse();
      return { text: "", stop: "context", tokenCount: 0, policyVersion: 0 };
    }
  };
  return { contextLength: contextLength ?? Infinity, concurrent: true, sample: (requests, options) => allOrNone(requests, one, options) };
}

export interface TokenOptions {
  /** Tokens that end a response. */
  readonly stopTokens: readonly number[];
  /** Ids at or above this cannot be decoded: the server's tokenizer is another one. */
  readonly vocabularySize: number;
  /** Tokens of the model's context; absent: as the server says. */
  readonly contextLength?: number;
  /** A text and its tokens, by which the tokenizer is compared with the served model's before the first sample. Default: not compared. */
  readonly probe?: { readonly text: string; readonly tokens: Int32Array };
}

/**
 * Connects a policy that sends and takes token ids with their log-probabilities, from a server that offers them (vLLM).
 * @throws SpadeError policy.unreachable, policy.key, policy.model, policy.contextLength, policy.noTokens, policy.tokenizer
 */
export async function connectTokens(endpoint: Endpoint, options: TokenOptions): Promise<Policy> {
  const served = await endpoint.servedModel();
  const contextLength = options.contextLength ?? served?.contextLength;
  if (contextLength === undefined) throw new SpadeError("policy.contextLength", `The endpoint does not say how long the context of ${endpoint.model} is. Set policy.contextLength.`);
  if (options.probe !== undefined) await checkTokenizer(endpoint, options.probe);
  const one = async ({ prompt, sampling, seed, ...named }: SampleRequest, signal: AbortSignal): Promise<Sample> => {
    const maxTokens = Math.min(sampling.maxTokens, contextLength - prompt.length);
    const body = { model: endpoint.model, prompt: [...prompt], ...samplingFields({ ...sampling, maxTokens }, seed), logprobs: 1, return_token_ids: true, stop_token_ids: options.stopTokens, skip_special_tokens: false, stream: false };
    const reply = await endpoint.reply({ path: "/completions", body, signal, ...named }, (answer) => readTokens(answer) ?? noTokens(endpoint));
    if (reply.prompt !== undefined && reply.prompt.join() !== prompt.join()) throw new SpadeError("policy.protocol", `The endpoint changed a prompt of ${prompt.length} tokens to one of ${reply.prompt.length} before it sampled. Leave policy.tokenizer out to send chats.`);
    const { tokens, logprobs } = checkSampled(reply, { maxTokens, vocabularySize: options.vocabularySize });
    if (reply.stop === "stop" && !options.stopTokens.includes(tokens.at(-1) ?? -1)) throw new SpadeError("policy.protocol", `A reply ended at token ${tokens.at(-1)}, expected one of ${options.stopTokens.join(", ")}: the endpoint leaves out the token that ends it, or policy.tokenizer is not the served model's.`);
    return { tokens, logprobs, stop: reply.stop, policyVersion: 0 };
  };
  const sample: Policy["sample"] = async (requests, options) => {
    // What is sampled here is not trained on, so no distribution is refused.
    for (const request of requests) checkRequest(request, { contextLength, allowSamplingMismatch: true });
    return await allOrNone(requests, one, options);
  };
  return { contextLength, concurrent: true, sample };
}

/** Compares how both tokenize a text; a server that does not say how it does is not compared. */
async function checkTokenizer(endpoint: Endpoint, { text, tokens }: NonNullable<TokenOptions["probe"]>): Promise<void> {
  const body = { model: endpoint.model, prompt: text, add_special_tokens: false, max_tokens: 1, return_token_ids: true, stream: false };
  const { prompt } = await endpoint.reply({ path: "/completions", body, signal: new AbortController().signal }, (answer) => readTokens(answer) ?? noTokens(endpoint));
  if (prompt === undefined || prompt.join() === tokens.join()) return;
  throw new SpadeError("policy.tokenizer", `The endpoint tokenizes a text of ${text.length} characters into ${prompt.length} tokens (${prompt.slice(0, 8).join(", ")}, …), policy.tokenizer into ${tokens.length} (${tokens.slice(0, 8).join(", ")}, …): it is not the served model's. Set policy.tokenizer to the directory of the served model's tokenizer.`);
}

/** Servers differ in their defaults, so what matters is said. Fields that not all of them know are left out where they change nothing. */
function samplingFields({ temperature, topP, topK, maxTokens }: Sampling, seed: number): Readonly<Record<string, number>> {
  return { max_tokens: maxTokens, temperature, ...(topP === 1 ? {} : { top_p: topP }), ...(topK === 0 ? {} : { top_k: topK }), seed: seed & 0x7fffffff };
}

function noTokens({ model }: Endpoint): never {
  throw new SpadeError("policy.noTokens", `The endpoint gives no token ids for ${model} (field \`token_ids\`; vLLM gives them when asked by return_token_ids). Leave policy.tokenizer out to play with text, or serve the model with a newer vLLM.`);
}

/**
 * All replies, in order. After the first failure, here or where `signal` tells of it, nothing more is asked; at the limit of spending, what was
 * asked is finished and counted first.
 */
async function allOrNone<Q, R>(requests: readonly Q[], one: (request: Q, signal: AbortSignal) => Promise<R>, { signal }: SampleOptions = {}): Promise<readonly R[]> {
  signal?.throwIfAborted();
  const failed = new AbortController();
  const giveUp = (error: unknown): void => {
    if (!(error instanceof SpadeError) || error.code !== "policy.budget") failed.abort(error);
  };
  const stop = (): void => giveUp(signal?.reason);
  signal?.addEventListener("abort", stop);
  const replies = requests.map((request) => one(request, failed.signal));
  try {
    return await Promise.all(replies);
  } catch (error) {
    giveUp(error);
    await Promise.allSettled(replies);
    throw error;
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}
