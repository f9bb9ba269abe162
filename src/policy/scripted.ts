import type { Tokenizer } from "../engine/tokenizer.ts";
import type { Policy, Sample, SampleRequest } from "./policy.ts";

/** One message of a prompt, as the embedded renderer laid it out. */
export interface ScriptedMessage {
  readonly role: "system" | "user" | "assistant";
  readonly text: string;
}

export interface ScriptedPrompt {
  /** The messages so far; the policy's own earlier turns have the role `assistant`. */
  readonly messages: readonly ScriptedMessage[];
  /** Text of the last user message. */
  readonly last: string;
  /** The request's seed: equal requests must give equal responses. */
  readonly seed: number;
}

/**
 * A policy that answers by a function of the prompt's text, for tests and baselines. It is deterministic, so every
 * sampled token has log-probability 0. A response over `maxTokens` is cut and stops by "length".
 */
export function scriptedPolicy(options: {
  readonly tokenizer: Tokenizer;
  readonly respond: (prompt: ScriptedPrompt) => string;
  readonly contextLength?: number;
  readonly policyVersion?: number;
}): Policy {
  const { tokenizer, respond, contextLength = 4096, policyVersion = 0 } = options;
  const sampleOne = (request: SampleRequest): Sample => {
    const messages = readMessages(tokenizer, request.prompt);
    const last = messages.findLast((message) => message.role === "user")?.text ?? "";
    const full = Int32Array.from([...tokenizer.encode(respond({ messages, last, seed: request.seed })), tokenizer.special.end]);
    const cut = full.length > request.sampling.maxTokens;
    const tokens = cut ? full.slice(0, request.sampling.maxTokens) : full;
    return { tokens, logprobs: new Float32Array(tokens.length), stop: cut ? "length" : "stop", policyVersion };
  };
  return { contextLength, sample: (requests) => Promise.resolve(requests.map(sampleOne)) };
}

function readMessages(tokenizer: Tokenizer, prompt: Int32Array): ScriptedMessage[] {
  const roles = new Map<number, ScriptedMessage["role"]>((["system", "user", "assistant"] as const).map((role) => [tokenizer.special[role], role]));
  const messages: { role: ScriptedMessage["role"]; tokens: number[] }[] = [];
  for (const token of prompt) {
    const role = roles.get(token);
    if (role !== undefined) messages.push({ role, tokens: [] });
    else if (token !== tokenizer.special.end) messages.at(-1)?.tokens.push(token);
  }
  if (messages.at(-1)?.role === "assistant") messages.pop();
  return messages.map(({ role, tokens }) => ({ role, text: tokenizer.decode(tokens) }));
}

