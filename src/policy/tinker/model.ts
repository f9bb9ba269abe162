import type { HttpFailure, Repeat } from "../../http/failure.ts";
import { type ChunkLimits, mergeOutputs, splitChunks } from "./chunks.ts";
import { failureOf, interruptedError, nonFinite } from "./failures.ts";
import type { Encoding } from "./profile.ts";
import { protobufForwardBackward, readProtobufOutput } from "./protobuf.ts";
import type { Session } from "./session.ts";
import { type Datum, type ForwardBackwardCall, type ForwardBackwardOutput, type FutureResult, jsonForwardBackward, jsonPayload, type Payload, protocolError, readJsonOutput, readMetrics, type ServerLoss } from "./wire.ts";

/** The low-rank adapter that is trained. */
export interface Lora {
  readonly rank: number;
  readonly seed: number;
  readonly trainAttention: boolean;
  readonly trainMlp: boolean;
  readonly trainUnembedding: boolean;
}

/** Settings of one optimiser step, by the server's names. */
export interface AdamParams {
  readonly learning_rate: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  readonly weight_decay: number;
  readonly grad_clip_norm: number;
}

export interface ModelOptions {
  readonly baseModel: string;
  readonly lora: Lora;
  readonly chunks: ChunkLimits;
}

interface Submitted {
  /** Absent when the server says that the operation was carried out before. */
  readonly requestId?: string;
  readonly payload: Payload;
}

/** How an operation is numbered and what its failure means. */
interface Step {
  readonly what: string;
  readonly signal?: AbortSignal;
  /** Its failure leaves gradients or weights that nobody knows. */
  readonly mutates: boolean;
  /** May be carried out twice. */
  readonly idempotent: boolean;
  /** A conflict after an attempt without an answer means that the attempt had succeeded. */
  readonly conflictIsDone?: boolean;
}

/** Resubmissions of an operation whose result the server lost. */
const maxResubmissions = 3;

/**
 * One adapter in training. Operations are submitted one at a time, numbered 1, 2, 3, … without gap; a number is used for one operation only,
 * and a repetition sends the same number and bytes. After an update without a known outcome all further operations are refused.
 */
export class Model {
  readonly id: string;
  readonly #session: Session;
  readonly #options: ModelOptions;
  #next = 1;
  #turn: Promise<unknown> = Promise.resolve();
  #broken: { readonly cause: unknown } | undefined;
  #encoding: Encoding;
  /** Content types that the server refused for forward requests. */
  readonly #refused = new Set<string>();

  private constructor(session: Session, id: string, options: ModelOptions) {
    this.#session = session;
    this.id = id;
    this.#options = options;
    this.#encoding = session.connection.profile.encoding;
  }

  /** Makes a new adapter and waits until it exists. @throws SpadeError policy.* */
  static async create(session: Session, options: ModelOptions): Promise<Model> {
    const { connection } = session;
    const { rank, seed, trainAttention, trainMlp, trainUnembedding } = options.lora;
    const lora = { rank, seed, train_attn: trainAttention, train_mlp: trainMlp, train_unembed: trainUnembedding };
    const what = `Creating an adapter of rank ${rank} for ${options.baseModel}`;
    const { requestId, immediate } = await connection.begin(
      jsonPayload("/api/v1/create_model", { session_id: session.id, model_seq_id: session.nextModel(), base_model: options.baseModel, lora_config: lora, type: "create_model" }),
      { what, repeat: connection.profile.deduplicates ? "always" : "unaccepted" },
    );
    const result = jsonOf(await connection.result(requestId, { what }), what);
    const id = result["model_id"] ?? immediate["model_id"];
    if (typeof id !== "string") throw protocolError("create_model gave no model_id", result);
    return new Model(session, id, options);
  }

  /** No operation has been submitted yet: weights can be loaded. */
  get untouched(): boolean {
    return this.#next === 1;
  }

  /** Log-probabilities of the targets under the present weights; changes nothing. */
  forward(datums: readonly Datum[], loss: ServerLoss): Promise<ForwardBackwardOutput> {
    return this.#forwardBackward([datums], { loss, forwardOnly: true });
  }

  /** Adds the gradient of the loss to what has accumulated. `requests` are split further where they are too large. */
  forwardBackward(requests: readonly (readonly Datum[])[], loss: ServerLoss): Promise<ForwardBackwardOutput> {
    return this.#forwardBackward(requests, { loss, forwardOnly: false });
  }

  /** Datums in requests as they will be sent. */
  split(datums: readonly Datum[]): (readonly Datum[])[] {
    return splitChunks(datums, this.#options.chunks);
  }

  /** Refuses everything from now on: what has accumulated must never be stepped on. */
  condemn(cause: unknown): void {
    this.#broken ??= { cause };
  }

  /** One optimiser step on the accumulated gradient. Returns the server's metrics. */
  async optimStep(adam: AdamParams): Promise<Record<string, number>> {
    const step: Step = { what: "The optimiser step", mutates: true, idempotent: this.#deduplicates };
    const result = jsonOf(await this.#run(step, (seqId) => jsonPayload("/api/v1/optim_step", { adam_params: adam, model_id: this.id, seq_id: seqId, type: "optim_step" })), step.what);
    const metrics = readMetrics(result["metrics"]);
    const bad = Object.entries(metrics).find(([, value]) => !Number.isFinite(value));
    if (bad === undefined) return metrics;
    const error = nonFinite(`The optimiser step reports ${bad[0]} ${bad[1]}`);
    this.condemn(error);
    throw error;
  }

  /** Saves weights and optimiser state under a name that is new to this model; returns the server's path. */
  async saveWeights(name: string): Promise<string> {
    const step: Step = { what: `Saving the weights as ${name}`, mutates: false, idempotent: true, conflictIsDone: true };
    const result = await this.#run(step, (seqId) => jsonPayload("/api/v1/save_weights", { model_id: this.id, path: name, seq_id: seqId, type: "save_weights" }));
    if (result === undefined) return `tinker://${this.id}/weights/${name}`;
    const { path } = jsonOf(result, step.what);
    if (typeof path !== "string") throw protocolError("save_weights gave no path", path);
    return path;
  }

  /** Makes the present weights samplable; returns the id of a sampling session. */
  async saveForSampler(): Promise<string> {
    const step: Step = { what: "Publishing the weights to the sampler", mutates: false, idempotent: true, conflictIsDone: true };
    const publish = (): Promise<FutureResult | undefined> => {
      const number = this.#session.nextSampler();
      return this.#run(step, (seqId) => jsonPayload("/api/v1/save_weights_for_sampler", { model_id: this.id, seq_id: seqId, sampling_session_seq_id: number, type: "save_weights_for_sampler" }));
    };
    // SkyRL answers the repetition of one whose answer was lost with a conflict: published it is, but as what is not known.
    const result = jsonOf((await publish()) ?? (await publish()), step.what);
    if (typeof result["sampling_session_id"] === "string") return result["sampling_session_id"];
    if (typeof result["path"] !== "string") throw protocolError("save_weights_for_sampler gave neither sampling_session_id nor path", result);
    const answer = await this.#session.connection.call(
      "/api/v1/create_sampling_session",
      { session_id: this.#session.id, sampling_session_seq_id: this.#session.nextSampler(), model_path: result["path"], type: "create_sampling_session" },
      { what: "Opening a sampling session" },
    );
    if (typeof answer["sampling_session_id"] !== "string") throw protocolError("create_sampling_session gave no sampling_session_id", answer);
    return answer["sampling_session_id"];
  }

  /** Loads saved weights with their optimiser state; only an untouched model takes them. */
  async loadWeights(path: string): Promise<void> {
    await this.#run({ what: `Loading ${path}`, mutates: true, idempotent: this.#deduplicates }, (seqId) => jsonPayload("/api/v1/load_weights", { model_id: this.id, path, optimizer: true, seq_id: seqId, type: "load_weights" }));
  }

  /** Frees the adapter; failures are ignored, since some servers do not offer it. */
  async unload(): Promise<void> {
    try {
      await this.#session.connection.call("/api/v1/unload_model", { model_id: this.id, type: "unload_model" }, { what: "Unloading the adapter", repeat: "never", timeoutMs: 5_000 });
    } catch {
      // Cleanup: the server frees the adapters of a silent session by itself.
    }
  }

  get #deduplicates(): boolean {
    return this.#session.connection.profile.deduplicates;
  }

  async #forwardBackward(requests: readonly (readonly Datum[])[], { loss, forwardOnly }: { readonly loss: ServerLoss; readonly forwardOnly: boolean }): Promise<ForwardBackwardOutput> {
    const chunks = requests.flatMap((datums) => this.split(datums));
    const failed = new AbortController();
    const step: Step = { what: forwardOnly ? "The forward pass" : "The backward pass", mutates: !forwardOnly, idempotent: forwardOnly || this.#deduplicates, signal: failed.signal };
    const one = async (datums: readonly Datum[]): Promise<ForwardBackwardOutput> => {
      const call = { modelId: this.id, datums, loss, forwardOnly };
      const output = readOutput(await this.#run(step, (seqId) => this.#encode({ ...call, seqId })), step.what);
      checkShape(output, datums);
      return output;
    };
    try {
      return mergeOutputs(await Promise.all(chunks.map(one)));
    } catch (error) {
      failed.abort();
      throw error;
    }
  }

  #encode(call: ForwardBackwardCall): Payload {
    return this.#encoding === "json" ? jsonForwardBackward(call) : protobufForwardBackward(call);
  }

  /** Submits an operation in its turn and waits for its result; absent when a conflict says that it was done before. */
  async #run(step: Step, build: (seqId: number) => Payload): Promise<FutureResult | undefined> {
    const turn = this.#turn.then(() => this.#submit(step, build));
    this.#turn = turn.catch(() => undefined);
    const { requestId, payload } = await turn;
    if (requestId === undefined) return undefined;
    try {
      return await this.#await(step, requestId, payload);
    } catch (error) {
      if (step.mutates) this.condemn(error);
      throw error;
    }
  }

  async #submit(step: Step, build: (seqId: number) => Payload): Promise<Submitted> {
    if (this.#broken !== undefined) throw interruptedError(step.what, this.#broken.cause);
    step.signal?.throwIfAborted();
    const attempts: HttpFailure[] = [];
    const payload = build(this.#next);
    try {
      const { requestId } = await this.#session.connection.begin(payload, { what: step.what, repeat: repeatOf(step), onFailure: (each) => void attempts.push(each) });
      this.#next += 1;
      return { requestId, payload };
    } catch (error) {
      const failure = failureOf(error);
      const ambiguous = attempts.some(isAmbiguous);
      if (failure !== undefined && !ambiguous && this.#otherEncoding(failure, payload)) return this.#submit(step, build);
      if (failure?.status === 409 && ambiguous && step.conflictIsDone === true) {
        this.#next += 1;
        return { payload };
      }
      if (ambiguous || failure === undefined || isAmbiguous(failure) || failure.status === 409) this.condemn(error);
      throw error;
    }
  }

  /** Takes the other encoding when the server refused this one for its form. Once: a server that refuses both is told so. */
  #otherEncoding({ status, body = "" }: HttpFailure, { path, contentType }: Payload): boolean {
    if (!/\/forward(_backward)?$/.test(path) || this.#refused.has(contentType)) return false;
    const protobuf = contentType === "application/x-protobuf";
    const refused = status === 415 || (protobuf ? (status === 400 || status === 422) && /json|dict|utf-?8|decod/i.test(body) : status === 404);
    if (!refused) return false;
    this.#refused.add(contentType);
    this.#encoding = protobuf ? "json" : "protobuf";
    return this.#refused.size < 2;
  }

  async #await(step: Step, first: string, payload: Payload): Promise<FutureResult> {
    let requestId = first;
    for (let lost = 0; ; lost++) {
      try {
        return await this.#session.connection.result(requestId, { what: step.what, ...(step.signal === undefined ? {} : { signal: step.signal }) });
      } catch (error) {
        if (failureOf(error)?.status !== 410 || !step.idempotent || lost === maxResubmissions) throw error;
        ({ requestId } = await this.#session.connection.begin(payload, { what: step.what, repeat: repeatOf(step) }));
      }
    }
  }
}

function repeatOf({ idempotent }: Step): Repeat {
  return idempotent ? "always" : "unaccepted";
}

/** The server may have begun to carry the request out. */
function isAmbiguous({ kind, status = 0 }: HttpFailure): boolean {
  return kind === "connection" || kind === "timeout" || kind === "aborted" || kind === "format" || status === 408 || status >= 500;
}

function readOutput(result: FutureResult | undefined, what: string): ForwardBackwardOutput {
  if (result?.kind === "protobuf") return readProtobufOutput(result.bytes);
  return readJsonOutput(jsonOf(result, what));
}

function jsonOf(result: FutureResult | undefined, what: string): Readonly<Record<string, unknown>> {
  if (result?.kind === "json") return result.value;
  throw protocolError(`${what} got a result that is not JSON`, result === undefined ? "none" : "protobuf");
}

function checkShape({ logprobs }: ForwardBackwardOutput, datums: readonly Datum[]): void {
  if (logprobs.length !== datums.length) throw protocolError(`${datums.length} datums were sent and ${logprobs.length} results came back`, logprobs.length);
  datums.forEach(({ targets }, i) => {
    const length = logprobs[i]?.length ?? 0;
    if (length !== targets.length) throw protocolError(`datum ${i} has ${targets.length} targets and its result ${length} log-probabilities`, length);
  });
}
