import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ChatMessage } from "../../../core/chat.ts";
import type { SampleCall } from "../../tinker/testing/served-model.ts";
import type { SampledSequence } from "../../tinker/wire.ts";

/** What the scripted model says to a chat. */
export interface ScriptedReply {
  readonly content: string;
  readonly reasoning?: string;
  readonly finish?: string;
}

/** What happens to a request instead of its true answer. */
export type EndpointFault =
  | { readonly kind: "status"; readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  /** Answers 200 with this text. */
  | { readonly kind: "text"; readonly text: string }
  /** Answers with a text made from the true answer; `cut` closes the connection behind it without ending the answer. */
  | { readonly kind: "alter"; readonly alter: (text: string) => string; readonly cut?: boolean }
  /** Closes the connection without an answer. */
  | { readonly kind: "reset" }
  /** Never answers. */
  | { readonly kind: "hang" };

export interface ScriptedEndpointOptions {
  readonly model: string;
  readonly chat?: (messages: readonly ChatMessage[], body: Readonly<Record<string, unknown>>) => string | ScriptedReply;
  /** Serves `/completions` by tokens. */
  readonly tokens?: (call: SampleCall) => SampledSequence | Promise<SampledSequence>;
  /** How the served model's tokenizer splits a prompt of text. */
  readonly tokenize?: (text: string) => readonly number[];
  /** Requests without this key are refused. */
  readonly key?: string;
  /** Listed for the model. */
  readonly contextLength?: number;
  /** Faults of the first sampling requests, in order; undefined lets one pass. */
  readonly faults?: readonly (EndpointFault | undefined)[];
  /** Leaves the usage out. */
  readonly silentOnUsage?: boolean;
}

/** An endpoint of the OpenAI kind on loopback, for tests: streams in small pieces, and is faulty on demand. */
export class ScriptedEndpoint implements AsyncDisposable {
  /** Bodies of all sampling requests, in order. */
  readonly bodies: Readonly<Record<string, unknown>>[] = [];
  /** `X-Session-ID` of each of them. */
  readonly sessions: (string | undefined)[] = [];
  /** Largest number of sampling requests at once. */
  mostAtOnce = 0;
  #atOnce = 0;
  readonly #options: ScriptedEndpointOptions;
  readonly #server: Server;

  private constructor(options: ScriptedEndpointOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => void this.#handle(request, response));
  }

  static async start(options: ScriptedEndpointOptions): Promise<ScriptedEndpoint> {
    const endpoint = new ScriptedEndpoint(options);
    await new Promise<void>((resolve) => endpoint.#server.listen(0, "127.0.0.1", resolve));
    return endpoint;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { model, key, contextLength } = this.#options;
    if (key !== undefined && request.headers.authorization !== `Bearer ${key}`) return void send(response, 401, { error: { message: `Incorrect API key provided: ${request.headers.authorization ?? "none"}` } });
    if (request.url === "/v1/models") return void send(response, 200, { object: "list", data: [{ id: model, object: "model", ...(contextLength === undefined ? {} : { max_model_len: contextLength }) }] });
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = JSON.parse(Buffer.concat(parts).toString()) as Readonly<Record<string, unknown>>;
    const fault = this.#options.faults?.[this.bodies.length];
    this.bodies.push(body);
    this.sessions.push(request.headersDistinct["x-session-id"]?.join());
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#atOnce);
    await new Promise(setImmediate);
    await this.#answer(request.url ?? "", body, { fault, response });
    this.#atOnce -= 1;
  }

  async #answer(url: string, body: Readonly<Record<string, unknown>>, { fault, response }: { readonly fault: EndpointFault | undefined; readonly response: ServerResponse }): Promise<void> {
    if (fault?.kind === "hang") return;
    if (fault?.kind === "reset") return void response.destroy();
    if (fault?.kind === "status") return void send(response, fault.status, fault.body ?? { error: { message: "scripted fault" } }, fault.headers);
    const text = fault?.kind === "text" ? fault.text : url.endsWith("/chat/completions") ? this.#chat(body) : await this.#complete(body);
    if (text === undefined) return void send(response, 404, { detail: "Not Found" });
    await stream(response, fault?.kind === "alter" ? fault.alter(text) : text);
    if (fault?.kind === "alter" && fault.cut === true) response.destroy();
    else response.end();
  }

  #chat(body: Readonly<Record<string, unknown>>): string | undefined {
    const { chat, silentOnUsage } = this.#options;
    if (chat === undefined) return undefined;
    const messages = body["messages"] as readonly ChatMessage[];
    const said = chat(messages, body);
    const { content, reasoning, finish = "stop" } = typeof said === "string" ? { content: said } : said;
    const usage = silentOnUsage === true ? {} : { usage: { prompt_tokens: messages.reduce((sum, message) => sum + message.content.length, 0), completion_tokens: content.length, prompt_tokens_details: { cached_tokens: 1 } } };
    const thoughts = reasoning === undefined ? {} : { reasoning_content: reasoning };
    if (body["stream"] !== true) return JSON.stringify({ choices: [{ index: 0, message: { role: "assistant", content, ...thoughts }, finish_reason: finish }], ...usage });
    const deltas = [{ role: "assistant", content: "" }, ...(reasoning === undefined ? [] : [thoughts]), ...(content.match(/[\s\S]{1,7}/g) ?? []).map((piece) => ({ content: piece }))];
    const events = [...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })), { choices: [{ index: 0, delta: {}, finish_reason: finish }] }, { choices: [], ...usage }];
    return `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")}data: [DONE]\n\n`;
  }

  async #complete(body: Readonly<Record<string, unknown>>): Promise<string | undefined> {
    const given = body["prompt"] as string | readonly number[];
    const prompt = typeof given === "string" ? (this.#options.tokenize?.(given) ?? []) : given;
    const sequence = await this.#options.tokens?.({ prompt: Int32Array.from(prompt), maxTokens: Number(body["max_tokens"]), temperature: Number(body["temperature"] ?? 1), seed: Number(body["seed"] ?? 0), stop: (body["stop_token_ids"] ?? []) as readonly number[] });
    if (sequence === undefined) return undefined;
    const { tokens, logprobs = [], stopReason } = sequence;
    const choice = { index: 0, text: "", token_ids: [...tokens], prompt_token_ids: prompt, logprobs: { token_logprobs: [...logprobs] }, finish_reason: stopReason };
    return JSON.stringify({ choices: [choice], usage: { prompt_tokens: prompt.length, completion_tokens: tokens.length } });
  }
}

function send(response: ServerResponse, status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): ServerResponse {
  return response.writeHead(status, { "content-type": "application/json", ...headers }).end(typeof body === "string" ? body : JSON.stringify(body));
}

/** Writes an answer in pieces that break lines and characters apart. */
async function stream(response: ServerResponse, text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  const size = Math.max(1, Math.ceil(bytes.length / 5));
  for (let from = 0; from < bytes.length; from += size) await new Promise<void>((resolve) => response.write(bytes.subarray(from, from + size), () => resolve()));
}
