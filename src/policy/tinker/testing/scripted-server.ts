import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { sha256 } from "../../../core/digest.ts";
import { isRecord, type ServerLoss } from "../wire.ts";
import { protobufOutput, readForwardBackward, type ReceivedForwardBackward } from "./server-protobuf.ts";
import type { ServedModel } from "./served-model.ts";

/** What happens to a request instead of, or after, its being carried out. */
export type FaultKind =
  | { readonly kind: "status"; readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  /** Answers 200 with this text. */
  | { readonly kind: "text"; readonly text: string }
  /** Closes the connection before or after carrying the request out. */
  | { readonly kind: "reset"; readonly when: "before" | "after" }
  /** Never answers. */
  | { readonly kind: "hang" }
  /** Carries it out and answers with a text made from the true answer. */
  | { readonly kind: "alter"; readonly alter: (text: string) => string }
  /** The server stops at once, as a killed process does. */
  | { readonly kind: "die" };

export type Fault = FaultKind & {
  /** Last part of the path, for example `optim_step`. */
  readonly at: string;
  /** Requests to it that pass first. Default: 0. */
  readonly after?: number;
  /** Requests that it strikes. Default: 1. */
  readonly times?: number;
};

export interface ScriptedServerOptions {
  readonly baseModel: string;
  readonly newModel: () => ServedModel;
  /** Default: 64. */
  readonly contextLength?: number;
  /** The same sequence number twice is carried out once. Default: true. */
  readonly deduplicates?: boolean;
  /** Encodings of forward_backward that it takes. Default: both. */
  readonly encodings?: readonly ("json" | "protobuf")[];
  /** Requests without this key are refused. */
  readonly key?: string;
  /** Weights saved by an earlier server, by path; saving mutates it. */
  readonly disk?: Map<string, ServedModel>;
  readonly faults?: readonly Fault[];
}

/** An operation that was carried out, in order. */
export interface Carried {
  readonly operation: string;
  readonly modelId: string;
  readonly seqId: number;
  readonly datums?: number;
  readonly encoding?: "json" | "protobuf";
}

interface Adapter {
  readonly id: string;
  model: ServedModel;
  next: number;
  readonly answered: Map<number, { readonly digest: string; readonly requestId: string }>;
}

type Body = Readonly<Record<string, unknown>>;
type Outcome = { readonly result: unknown } | { readonly protobuf: Uint8Array } | { readonly failure: string };

class Refusal extends Error {
  readonly status: number;

  constructor(status: number, detail: string) {
    super(detail);
    this.status = status;
  }
}

/** A Tinker server on loopback for tests: strict about sequence numbers, exact about losses, and faulty on demand. */
export class ScriptedServer implements AsyncDisposable {
  /** Operations on models that were carried out. */
  readonly carried: Carried[] = [];
  /** Last path parts of all requests, in order. */
  readonly requests: string[] = [];
  /** Parsed JSON bodies by last path part, newest last. */
  readonly bodies: { readonly at: string; readonly body: Body }[] = [];
  /** `X-Session-ID` of each request that has one. */
  readonly sessions: string[] = [];
  /** Most requests for samples in flight at once. */
  mostSampling = 0;
  readonly #options: ScriptedServerOptions;
  readonly #server: Server;
  readonly #disk: Map<string, ServedModel>;
  readonly #adapters = new Map<string, Adapter>();
  readonly #samplers = new Map<string, ServedModel>();
  readonly #futures = new Map<string, Outcome>();
  #faults: { fault: Fault; skip: number; left: number }[] = [];
  #unread = 0;
  #ids = 0;

  private constructor(options: ScriptedServerOptions) {
    this.#options = options;
    this.#disk = options.disk ?? new Map<string, ServedModel>();
    this.inject(...(options.faults ?? []));
    this.#server = createServer((request, response) => void this.#handle(request, response));
  }

  static async start(options: ScriptedServerOptions): Promise<ScriptedServer> {
    const server = new ScriptedServer(options);
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  inject(...faults: readonly Fault[]): void {
    this.#faults.push(...faults.map((fault) => ({ fault, skip: fault.after ?? 0, left: fault.times ?? 1 })));
  }

  /** Operations that were carried out, by name. */
  count(operation: string): number {
    return this.carried.filter((each) => each.operation === operation).length;
  }

  /** The live model of an adapter. */
  model(index = 0): ServedModel {
    const adapter = [...this.#adapters.values()][index];
    if (adapter === undefined) throw new Error(`There is no adapter ${index}.`);
    return adapter.model;
  }

  /** Forgets all sessions, models and futures, as a restart does; what was saved stays. */
  forget(): void {
    this.#adapters.clear();
    this.#samplers.clear();
    this.#futures.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await readAll(request);
    const at = request.url?.split("/").at(-1) ?? "";
    this.requests.push(at);
    this.sessions.push(...(request.headersDistinct["x-session-id"] ?? []));
    const fault = this.#strike(at);
    if (fault !== undefined && this.#before(fault, response)) return;
    let answer: { status: number; body: Uint8Array; type: string };
    try {
      if (this.#options.key !== undefined && request.headers["x-api-key"] !== this.#options.key) throw new Refusal(401, "no valid key");
      answer = await this.#answer(request, at, bytes);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      answer = { status: error.status, body: json({ detail: error.message }), type: "application/json" };
    }
    if (fault?.kind === "reset") {
      request.socket.destroy();
      return;
    }
    const body = fault?.kind === "alter" ? fault.alter(Buffer.from(answer.body).toString()) : answer.body;
    response.writeHead(answer.status, { "content-type": answer.type }).end(body);
  }

  #strike(at: string): Fault | undefined {
    const found = this.#faults.find(({ fault, left }) => fault.at === at && left > 0);
    if (found === undefined) return undefined;
    if (found.skip > 0) {
      found.skip -= 1;
      return undefined;
    }
    found.left -= 1;
    if (found.left === 0) this.#faults = this.#faults.filter((each) => each !== found);
    return found.fault;
  }

  /** True when the fault takes the place of the request. */
  #before(fault: Fault, response: ServerResponse): boolean {
    switch (fault.kind) {
      case "status":
        response.writeHead(fault.status, { "content-type": "application/json", ...fault.headers }).end(json(fault.body ?? { detail: "injected" }));
        return true;
      case "text":
        response.writeHead(200, { "content-type": "application/json" }).end(fault.text);
        return true;
      case "hang":
        return true;
      case "die":
        this.#server.close();
        this.#server.closeAllConnections();
        return true;
      case "reset":
        if (fault.when === "before") response.socket?.destroy();
        return fault.when === "before";
      case "alter":
        return false;
    }
  }

  async #answer(request: IncomingMessage, at: string, bytes: Buffer): Promise<{ status: number; body: Uint8Array; type: string }> {
    if (at === "forward_backward" && request.headers["content-type"] === "application/x-protobuf") {
      this.#refuseEncoding("protobuf");
      return ok(this.#train(readForwardBackward(bytes), sha256(bytes), "protobuf"));
    }
    const body = bytes.length === 0 ? {} : (JSON.parse(bytes.toString()) as Body);
    this.bodies.push({ at, body });
    if (at === "retrieve_future") return this.#retrieve(body);
    return ok(await this.#json(at, body, sha256(bytes)));
  }

  async #json(at: string, body: Body, digest: string): Promise<unknown> {
    switch (at) {
      case "get_server_capabilities":
        return { supported_models: [{ model_name: this.#options.baseModel, max_context_length: this.#options.contextLength ?? 64 }] };
      case "create_session":
        return { type: "create_session", session_id: `session-${this.#ids++}` };
      case "session_heartbeat":
        return { type: "session_heartbeat" };
      case "create_model":
        return this.#create();
      case "unload_model":
        this.#adapters.delete(text(body, "model_id"));
        return this.#future({ result: { model_id: body["model_id"] } });
      case "forward":
      case "forward_backward":
        this.#refuseEncoding("json");
        return this.#train(readJson(body, at === "forward"), digest, "json");
      case "create_sampling_session":
        return { type: at, sampling_session_id: this.#sampler(this.#options.newModel()) };
      case "asample":
        return this.#sample(body);
      default:
        return this.#modelOperation(at, body, digest);
    }
  }

  #create(): unknown {
    const id = `run-${this.#ids++}`;
    this.#adapters.set(id, { id, model: this.#options.newModel(), next: 1, answered: new Map() });
    return { ...this.#future({ result: { model_id: id, type: "create_model" } }), model_id: id };
  }

  #modelOperation(at: string, body: Body, digest: string): unknown {
    const adapter = this.#adapter(text(body, "model_id"));
    return this.#once(adapter, { operation: at, seqId: Number(body["seq_id"]), digest }, () => {
      switch (at) {
        case "optim_step":
          return { result: { metrics: { "skyrl.ai/grad_norm": adapter.model.step(body["adam_params"] as Record<string, number>) } } };
        case "save_weights":
          return { result: { path: this.#save(adapter, text(body, "path")), type: at } };
        case "save_weights_for_sampler":
          return { result: { path: null, sampling_session_id: this.#sampler(adapter.model.copy()), type: at } };
        case "load_weights":
          return this.#load(adapter, body);
        default:
          throw new Refusal(404, `no such endpoint: ${at}`);
      }
    });
  }

  #sampler(model: ServedModel): string {
    const id = `sampler-${this.#ids++}`;
    this.#samplers.set(id, model);
    return id;
  }

  #save(adapter: Adapter, name: string): string {
    const path = `tinker://${adapter.id}/weights/${name}`;
    if (this.#disk.has(path)) throw new Refusal(409, `checkpoint ${name} exists`);
    this.#disk.set(path, adapter.model.copy());
    return path;
  }

  #load(adapter: Adapter, body: Body): Outcome {
    if (Number(body["seq_id"]) !== 1) throw new Refusal(400, `LoadWeights is not permitted with seq_id ${String(body["seq_id"])}`);
    const saved = this.#disk.get(text(body, "path"));
    if (saved === undefined) return { failure: `no checkpoint ${text(body, "path")}` };
    adapter.model = saved.copy();
    return { result: { path: body["path"], type: "load_weights" } };
  }

  #train(call: ReceivedForwardBackward, digest: string, encoding: "json" | "protobuf"): unknown {
    const adapter = this.#adapter(call.modelId);
    const operation = call.forwardOnly ? "forward" : "forward_backward";
    return this.#once(adapter, { operation, seqId: call.seqId, digest, datums: call.datums.length, encoding }, () => {
      const logprobs = call.datums.map((datum) => adapter.model.logprobs(datum));
      if (!call.forwardOnly) adapter.model.accumulate(call.datums, call.loss);
      const metrics = { "loss:sum": logprobs.reduce((sum, row) => sum - row.reduce((a, b) => a + b, 0), 0), "datums:mean": call.datums.length };
      if (encoding === "protobuf") return { protobuf: protobufOutput(logprobs, metrics) };
      return { result: { loss_fn_output_type: "scalar", loss_fn_outputs: logprobs.map((row) => ({ logprobs: { data: [...row], dtype: "float32", shape: [row.length] } })), metrics } };
    });
  }

  /** Carries an operation out in its order, once for each number where the server deduplicates. */
  #once(adapter: Adapter, of: { readonly operation: string; readonly seqId: number; readonly digest: string; readonly datums?: number; readonly encoding?: "json" | "protobuf" }, carry: () => Outcome): unknown {
    const { operation, seqId, digest, ...rest } = of;
    const before = adapter.answered.get(seqId);
    if (before !== undefined && this.#options.deduplicates !== false) {
      if (before.digest !== digest) throw new Refusal(409, `sequence number ${seqId} was reused`);
      if (this.#futures.has(before.requestId)) return { request_id: before.requestId };
    }
    if (before === undefined && seqId !== adapter.next) throw new Refusal(409, `sequence number ${seqId}, expected ${adapter.next}`);
    const outcome = carry();
    this.carried.push({ operation, modelId: adapter.id, seqId, ...rest });
    adapter.next = seqId + 1;
    const answer = this.#future(outcome);
    adapter.answered.set(seqId, { digest, requestId: answer.request_id });
    return answer;
  }

  async #sample(body: Body): Promise<unknown> {
    const sampler = this.#samplers.get(text(body, "sampling_session_id"));
    if (sampler === undefined) throw new Refusal(404, "no such sampling session");
    const params = body["sampling_params"] as { max_tokens: number; seed: number; stop: number[]; temperature: number };
    const prompt = (body["prompt"] as { chunks: { tokens: number[] }[] }).chunks.flatMap(({ tokens }) => tokens);
    const sequence = await sampler.sample({ prompt: Int32Array.from(prompt), maxTokens: params.max_tokens, temperature: params.temperature, seed: params.seed, stop: params.stop });
    this.mostSampling = Math.max(this.mostSampling, ++this.#unread);
    const prompted = body["prompt_logprobs"] === true ? { prompt_logprobs: [null, ...sampler.logprobs({ tokens: Int32Array.from(prompt.slice(0, -1)), targets: Int32Array.from(prompt.slice(1)), inputs: {} })] } : {};
    return this.#future({ result: { type: "sample", ...prompted, sequences: [{ stop_reason: sequence.stopReason, tokens: [...sequence.tokens], logprobs: [...(sequence.logprobs ?? [])] }] } });
  }

  #future(outcome: Outcome): { request_id: string } {
    const id = String(this.#ids++);
    this.#futures.set(id, outcome);
    return { request_id: id };
  }

  #retrieve(body: Body): { status: number; body: Uint8Array; type: string } {
    const outcome = this.#futures.get(text(body, "request_id"));
    if (outcome === undefined) throw new Refusal(404, "no such future");
    if ("failure" in outcome) throw new Refusal(400, outcome.failure);
    if ("protobuf" in outcome) return { status: 200, body: outcome.protobuf, type: "application/x-protobuf" };
    if (isRecord(outcome.result) && outcome.result["type"] === "sample") this.#unread -= 1;
    return ok(outcome.result);
  }

  #adapter(id: string): Adapter {
    const adapter = this.#adapters.get(id);
    if (adapter === undefined) throw new Refusal(404, `no such model: ${id}`);
    return adapter;
  }

  #refuseEncoding(encoding: "json" | "protobuf"): void {
    if (this.#options.encodings?.includes(encoding) === false) throw new Refusal(415, `cannot read ${encoding}`);
  }
}

function readJson(body: Body, forwardOnly: boolean): ReceivedForwardBackward {
  const input = body[forwardOnly ? "forward_input" : "forward_backward_input"] as { data: { model_input: { chunks: { tokens: number[] }[] }; loss_fn_inputs: Record<string, { data: number[] }> }[]; loss_fn: ServerLoss["name"]; loss_fn_config?: Record<string, number> };
  const datums = input.data.map(({ model_input: { chunks }, loss_fn_inputs: { target_tokens: targets, ...inputs } }) => ({
    tokens: Int32Array.from(chunks.flatMap(({ tokens }) => tokens)),
    targets: Int32Array.from(targets?.data ?? []),
    inputs: Object.fromEntries(Object.entries(inputs).map(([name, { data }]) => [name, Float32Array.from(data)])),
  }));
  return { modelId: text(body, "model_id"), seqId: Number(body["seq_id"]), datums, loss: { name: input.loss_fn, ...(input.loss_fn_config === undefined ? {} : { config: input.loss_fn_config }) }, forwardOnly };
}

function ok(value: unknown): { status: number; body: Uint8Array; type: string } {
  return { status: 200, body: json(value), type: "application/json" };
}

function json(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

function text(body: Body, key: string): string {
  const value = body[key];
  if (typeof value !== "string") throw new Refusal(422, `${key} is missing`);
  return value;
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
