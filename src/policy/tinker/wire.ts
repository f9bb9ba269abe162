import { SpadeError } from "../../core/errors.ts";

/** One row as the server trains on it: entry t of every array speaks of predicting token t + 1 of the trajectory. */
export interface Datum {
  /** Shape [N]: the trajectory without its last token. */
  readonly tokens: Int32Array;
  /** Shape [N]: the trajectory without its first token. */
  readonly targets: Int32Array;
  /** Shape [N] each; positions that carry no loss are 0. Names are the server's: weights, logprobs, advantages. */
  readonly inputs: Readonly<Record<string, Float32Array>>;
}

/** A loss of the server by its name, with its settings. */
export interface ServerLoss {
  readonly name: "cross_entropy" | "importance_sampling" | "ppo";
  readonly config?: Readonly<Record<string, number>>;
}

/** One forward or forward_backward request. */
export interface ForwardBackwardCall {
  readonly modelId: string;
  readonly seqId: number;
  readonly datums: readonly Datum[];
  readonly loss: ServerLoss;
  readonly forwardOnly: boolean;
}

export interface ForwardBackwardOutput {
  /** Per datum, shape [N]: log-probability of each target under the weights before the step. What is not a number is NaN. */
  readonly logprobs: readonly Float32Array[];
  /** By `name:reduction`. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** What a sampling request gives. */
export interface SampledSequence {
  readonly stopReason: "stop" | "length";
  readonly tokens: Int32Array;
  /** Absent when the server gives none. */
  readonly logprobs?: Float32Array;
}

/** A request's body, its content type and where it is sent. */
export interface Payload {
  readonly path: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
}

/** The finished result of a future, as it came: JSON or protobuf. */
export type FutureResult = { readonly kind: "json"; readonly value: Readonly<Record<string, unknown>> } | { readonly kind: "protobuf"; readonly bytes: Uint8Array };

/** A JSON request. */
export function jsonPayload(path: string, value: unknown): Payload {
  return { path, bytes: new TextEncoder().encode(JSON.stringify(value)), contentType: "application/json" };
}

/** forward or forward_backward in JSON. */
export function jsonForwardBackward({ modelId, seqId, datums, loss, forwardOnly }: ForwardBackwardCall): Payload {
  const data = datums.map(({ tokens, targets, inputs }) => ({
    model_input: { chunks: [{ type: "encoded_text", tokens: [...tokens] }] },
    loss_fn_inputs: { target_tokens: tensor(targets, "int64"), ...Object.fromEntries(Object.entries(inputs).map(([name, values]) => [name, tensor(values, "float32")])) },
  }));
  const input = { data, loss_fn: loss.name, ...(loss.config === undefined ? {} : { loss_fn_config: loss.config }) };
  return forwardOnly
    ? jsonPayload("/api/v1/forward", { forward_input: input, model_id: modelId, seq_id: seqId })
    : jsonPayload("/api/v1/forward_backward", { forward_backward_input: input, model_id: modelId, seq_id: seqId });
}

function tensor(values: Int32Array | Float32Array, dtype: "int64" | "float32"): unknown {
  return { data: [...values], dtype, shape: [values.length] };
}

/** Output of forward or forward_backward in JSON. @throws SpadeError policy.protocol */
export function readJsonOutput(value: Readonly<Record<string, unknown>>): ForwardBackwardOutput {
  const outputs = value["loss_fn_outputs"];
  if (!Array.isArray(outputs)) throw protocolError("a forward result has no list loss_fn_outputs", value);
  const logprobs = outputs.map((output: unknown) => {
    const data = isRecord(output) && isRecord(output["logprobs"]) ? output["logprobs"]["data"] : undefined;
    if (!Array.isArray(data)) throw protocolError("a datum's result has no logprobs", output);
    return numbers(data);
  });
  return { logprobs, metrics: readMetrics(value["metrics"]) };
}

/** The numbers of a metrics object; what is null there is NaN, so that it is noticed. */
export function readMetrics(value: unknown): Record<string, number> {
  if (!isRecord(value)) return {};
  return Object.fromEntries(Object.entries(value).flatMap(([name, metric]) => (typeof metric === "number" ? [[name, metric]] : metric === null ? [[name, NaN]] : [])));
}

/** Sampled sequences in JSON. @throws SpadeError policy.protocol */
export function readJsonSequences(value: Readonly<Record<string, unknown>>): SampledSequence[] {
  const sequences = value["sequences"];
  if (!Array.isArray(sequences)) throw protocolError("a sampling result has no list sequences", value);
  return sequences.map((sequence: unknown) => {
    const { tokens, stop_reason: stopReason, logprobs } = isRecord(sequence) ? sequence : {};
    if (!Array.isArray(tokens) || !tokens.every(Number.isInteger)) throw protocolError("a sampled sequence has no list of whole numbers tokens", sequence);
    if (stopReason !== "stop" && stopReason !== "length") throw protocolError("a sampled sequence's stop_reason is neither stop nor length", sequence);
    return { stopReason, tokens: Int32Array.from(tokens as number[]), ...(Array.isArray(logprobs) ? { logprobs: numbers(logprobs) } : {}) };
  });
}

/** Log-probabilities of a prompt's tokens as the server gives them, what is not a number as NaN; absent when there are none. */
export function readJsonPromptLogprobs(value: Readonly<Record<string, unknown>>): Float32Array | undefined {
  const given = value["prompt_logprobs"];
  return Array.isArray(given) ? numbers(given) : undefined;
}

function numbers(values: readonly unknown[]): Float32Array {
  return Float32Array.from(values, (value) => (typeof value === "number" ? value : NaN));
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The error for an answer that is not what the protocol says. */
export function protocolError(what: string, value: unknown, cause?: unknown): SpadeError {
  const text = typeof value === "string" ? value : value === undefined ? "nothing" : JSON.stringify(value);
  const shown = text.length > 200 ? `${text.slice(0, 200)}…` : text;
  return new SpadeError("policy.protocol", `The server does not answer as the Tinker protocol says: ${what}; it answered ${shown}. Check policy.profile and the server's version against docs/engines.md, then resume.`, { cause });
}
