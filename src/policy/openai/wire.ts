import { z } from "zod";
import { messageOf, type SpadeError } from "../../core/errors.ts";
import { parseJson } from "../../http/json.ts";
import { eventData } from "../../http/sse.ts";
import type { Usage } from "./spending.ts";

/** An answer that makes no sense, or an error inside of an answer that began well: worth asking again, a few times. */
export class Nonsense extends Error {
  readonly code: SpadeError["code"];

  constructor(message: string, code: SpadeError["code"] = "policy.protocol") {
    super(message);
    this.name = "Nonsense";
    this.code = code;
  }
}

/** An entry in the list of what is served. */
export interface ServedModelEntry {
  readonly id: string;
  /** Tokens; where the server says it (vLLM does). */
  readonly contextLength?: number;
}

/** What was said in one reply. */
export interface ChatReply {
  /** Thoughts, if they came apart, in a think block; then the text; then calls of tools as `<tool_call>` blocks. */
  readonly text: string;
  readonly stop: "stop" | "length";
  readonly usage?: Usage;
}

/** One continuation by tokens. Both arrays have shape [T]; `logprobs` is absent where the server gives none, and NaN where it gives no number. */
export interface TokenReply {
  readonly tokens: Int32Array;
  readonly logprobs?: Float32Array;
  /** The prompt as the server understood it; where it says so. Shape [T]. */
  readonly prompt?: Int32Array;
  readonly stop: "stop" | "length";
  readonly usage?: Usage;
}

const text = z.string().nullish();
const number = z.number().nullish();

const usageSchema = z.object({ prompt_tokens: number, completion_tokens: number, prompt_tokens_details: z.object({ cached_tokens: number }).nullish() }).nullish();

const saidSchema = z
  .object({
    content: z.union([z.string(), z.array(z.object({ text }))]).nullish(),
    reasoning_content: text,
    reasoning: text,
    tool_calls: z.array(z.object({ index: number, function: z.object({ name: text, arguments: z.unknown().optional() }).nullish() })).nullish(),
  })
  .nullish();

const chatSchema = z.object({
  choices: z.array(z.object({ index: number, delta: saidSchema, message: saidSchema, finish_reason: text })).nullish(),
  usage: usageSchema,
  error: z.unknown().optional(),
});

const ids = z.array(z.int()).nullish();

const completionSchema = z.object({
  choices: z.array(z.object({ token_ids: ids, prompt_token_ids: ids, logprobs: z.object({ token_logprobs: z.array(z.number().nullable()).nullish() }).nullish(), finish_reason: text })).length(1),
  usage: usageSchema,
});

const modelsSchema = z.object({ data: z.array(z.object({ id: z.string(), max_model_len: number })) });

/** Reads the list of what is served. @throws Nonsense */
export function readModels(answer: unknown): readonly ServedModelEntry[] {
  return parsed(modelsSchema, answer).data.map(({ id, max_model_len: length }) => ({ id, ...(typeof length === "number" ? { contextLength: length } : {}) }));
}

/** Reads the answer to a chat, one JSON object or a stream of events, whichever came. @throws Nonsense */
export function readChat(answer: string): ChatReply {
  const isStream = !answer.trimStart().startsWith("{");
  const events = isStream ? eventData(answer) : [answer];
  const reply = new ReplyParts();
  for (const event of events) {
    if (event.trim() === "[DONE]") reply.isDone = true;
    else reply.take(parsed(chatSchema, json(event)));
  }
  return reply.whole({ isStream, answer });
}

/** Reads the answer to a continuation by tokens. @throws Nonsense */
export function readTokens(answer: string): TokenReply | undefined {
  const { choices, usage } = parsed(completionSchema, json(answer));
  const { token_ids: tokens, prompt_token_ids: prompt, logprobs, finish_reason: finish } = choices[0] ?? {};
  if (tokens === null || tokens === undefined) return undefined;
  const values = logprobs?.token_logprobs;
  return {
    tokens: Int32Array.from(tokens),
    ...(values === null || values === undefined ? {} : { logprobs: Float32Array.from(values, (value) => value ?? NaN) }),
    ...(prompt === null || prompt === undefined ? {} : { prompt: Int32Array.from(prompt) }),
    stop: stopOf(finish),
    ...usageOf(usage),
  };
}

/** What has come of a reply. */
class ReplyParts {
  isDone = false;
  #thoughts = "";
  #content = "";
  #finish: string | undefined;
  #usage: z.output<typeof usageSchema>;
  #choices = 0;
  readonly #calls = new Map<number, { name: string; arguments: string }>();

  take({ choices, usage, error }: z.output<typeof chatSchema>): void {
    if (error !== null && error !== undefined) throw new Nonsense(`was answered with an error in its reply: ${excerpt(JSON.stringify(error))}`, "policy.server");
    this.#usage = usage ?? this.#usage;
    for (const { index, delta, message, finish_reason: finish } of choices ?? []) {
      if ((index ?? 0) !== 0) continue;
      this.#choices += 1;
      this.#finish = finish ?? this.#finish;
      const said = delta ?? message;
      this.#thoughts += said?.reasoning_content ?? said?.reasoning ?? "";
      this.#content += typeof said?.content === "string" ? said.content : (said?.content ?? []).map((part) => part.text ?? "").join("");
      said?.tool_calls?.forEach((call, i) => this.#call(call.index ?? i, call.function ?? {}));
    }
  }

  #call(index: number, { name, arguments: given }: { readonly name?: string | null | undefined; readonly arguments?: unknown }): void {
    const call = this.#calls.get(index) ?? { name: "", arguments: "" };
    call.name ||= name ?? "";
    call.arguments += typeof given === "string" ? given : given === undefined || given === null ? "" : JSON.stringify(given);
    this.#calls.set(index, call);
  }

  whole({ isStream, answer }: { readonly isStream: boolean; readonly answer: string }): ChatReply {
    if (this.#choices === 0) throw new Nonsense(`was answered without a reply: ${excerpt(answer)}`);
    if (isStream && this.#finish === undefined && !this.isDone) throw new Nonsense("was answered with a stream that ended in the middle of its reply");
    const calls = [...this.#calls.values()].map(({ name, arguments: given }) => `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": ${given.trim() === "" ? "{}" : given}}\n</tool_call>`);
    const thoughts = this.#thoughts === "" ? "" : `<think>\n${this.#thoughts.trim()}\n</think>\n\n`;
    return { text: thoughts + [...(this.#content === "" ? [] : [this.#content]), ...calls].join("\n"), stop: stopOf(this.#finish), ...usageOf(this.#usage) };
  }
}

function stopOf(finish: string | null | undefined): "stop" | "length" {
  if (finish === "abort" || finish === "error" || finish === "cancelled") throw new Nonsense(`was answered with a reply that the server broke off (${finish})`, "policy.server");
  return finish === "length" || finish === "max_tokens" ? "length" : "stop";
}

function usageOf(usage: z.output<typeof usageSchema>): { readonly usage?: Usage } {
  if (typeof usage?.prompt_tokens !== "number" || typeof usage.completion_tokens !== "number") return {};
  return { usage: { inputTokens: usage.prompt_tokens, cachedInputTokens: usage.prompt_tokens_details?.cached_tokens ?? 0, outputTokens: usage.completion_tokens } };
}

function json(content: string): unknown {
  try {
    return parseJson(content);
  } catch (cause) {
    throw new Nonsense(`was answered with what is not JSON (${messageOf(cause)}): ${excerpt(content)}`);
  }
}

function parsed<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new Nonsense(`was answered with JSON of another form: ${excerpt(z.prettifyError(result.error))}`);
}

function excerpt(content: string): string {
  const line = content.replace(/\s+/g, " ").trim();
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}
