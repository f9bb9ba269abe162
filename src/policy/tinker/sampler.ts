import type { Gate } from "../../http/gate.ts";
import type { Sampling } from "../policy.ts";
import { sessionHeader } from "../session-header.ts";
import type { Connection } from "./connection.ts";
import { failureOf } from "./failures.ts";
import { readProtobufPromptLogprobs, readProtobufSequences } from "./protobuf.ts";
import { type FutureResult, jsonPayload, type Payload, protocolError, readJsonPromptLogprobs, readJsonSequences, type SampledSequence } from "./wire.ts";

export interface SamplerRequest {
  readonly prompt: Int32Array;
  readonly sampling: Sampling;
  readonly seed: number;
  readonly stopTokens: readonly number[];
  readonly promptLogprobs?: boolean;
  /** Conversation that the prompt goes on with. */
  readonly session?: string;
}

/** Sampling requests whose result the server lost are sent again this often. */
const maxResubmissions = 3;

/** Samples from one published version of the weights. */
export class Sampler {
  readonly #connection: Connection;
  readonly #gate: Gate;
  readonly #id: string;
  #next = 0;
  #namesSequences = false;

  constructor(connection: Connection, id: string, gate: Gate) {
    this.#connection = connection;
    this.#id = id;
    this.#gate = gate;
  }

  /** One continuation. Waits for room, and for less load when the server pushes back. @throws SpadeError policy.* */
  sample(request: SamplerRequest, signal: AbortSignal): Promise<SampledSequence> {
    return this.#gate.run(async () => {
      const sequence = only(await this.#result(request, signal));
      this.#gate.speedUp();
      return sequence;
    }, signal);
  }

  /** Log-probability [T - 1] of each token but the first after those before it; absent when the server gives none. @throws SpadeError policy.* */
  async score(tokens: Int32Array): Promise<Float32Array | undefined> {
    const request: SamplerRequest = { prompt: tokens, sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 1 }, seed: 0, stopTokens: [], promptLogprobs: true };
    const result = await this.#result(request, new AbortController().signal);
    const given = result.kind === "json" ? readJsonPromptLogprobs(result.value) : readProtobufPromptLogprobs(result.bytes);
    // Some servers give an empty entry for the first token, SkyRL's JAX backend gives none.
    return given === undefined || given.length < tokens.length - 1 ? undefined : given.subarray(1 - tokens.length);
  }

  async #result(request: SamplerRequest, signal: AbortSignal): Promise<FutureResult> {
    const number = this.#next++;
    for (let lost = 0; ; lost++) {
      try {
        const requestId = await this.#begin(request, number, signal);
        return await this.#connection.result(requestId, { what: "Sampling", signal });
      } catch (error) {
        if (failureOf(error)?.status !== 410 || lost === maxResubmissions) throw error;
      }
    }
  }

  async #begin(request: SamplerRequest, number: number, signal: AbortSignal): Promise<string> {
    const onFailure = ({ status }: { readonly status?: number }): void => {
      if (status === 429) this.#gate.slowDown();
    };
    const headers = { "x-tinker-sampling-backpressure": "1", ...sessionHeader(request) };
    const send = (): Promise<{ readonly requestId: string }> => this.#connection.begin(this.#payload(request, number), { what: "Sampling", signal, onFailure, headers });
    try {
      return (await send()).requestId;
    } catch (error) {
      const failure = failureOf(error);
      if (this.#namesSequences || failure?.status !== 422 || failure.body?.includes("sample_sequence_ids") !== true) throw error;
      this.#namesSequences = true;
      return (await send()).requestId;
    }
  }

  #payload({ prompt, sampling, seed, stopTokens, promptLogprobs = false }: SamplerRequest, number: number): Payload {
    const { temperature, topP, topK, maxTokens } = sampling;
    return jsonPayload("/api/v1/asample", {
      num_samples: 1,
      prompt: { chunks: [{ type: "encoded_text", tokens: [...prompt] }] },
      /** Servers differ in their defaults, so everything is said. Seeds are kept below 2^31 for those that store them signed. */
      sampling_params: { max_tokens: maxTokens, seed: seed & 0x7fffffff, stop: stopTokens, temperature, top_k: topK === 0 ? -1 : topK, top_p: topP },
      sampling_session_id: this.#id,
      seq_id: number,
      prompt_logprobs: promptLogprobs,
      type: "sample",
      ...(this.#namesSequences ? { sample_sequence_ids: [`${this.#id}-${number}`] } : {}),
    });
  }
}

function only(result: FutureResult): SampledSequence {
  const sequences = result.kind === "json" ? readJsonSequences(result.value) : readProtobufSequences(result.bytes);
  const [sequence] = sequences;
  if (sequence === undefined || sequences.length > 1) throw protocolError("one sample was asked for", `${sequences.length} sequences`);
  return sequence;
}
