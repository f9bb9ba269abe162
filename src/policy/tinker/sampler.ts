import type { Gate } from "../../http/gate.ts";
import type { Sampling } from "../policy.ts";
import type { Connection } from "./connection.ts";
import { failureOf } from "./failures.ts";
import { readProtobufSequences } from "./protobuf.ts";
import { type FutureResult, jsonPayload, type Payload, protocolError, readJsonSequences, type SampledSequence } from "./wire.ts";

export interface SamplerRequest {
  readonly prompt: Int32Array;
  readonly sampling: Sampling;
  readonly seed: number;
  readonly stopTokens: readonly number[];
  /** Conversation that the prompt goes on with. */
  readonly session?: string;
}

/** Routers in front of several replicas (vllm-router's `consistent_hash`, SkyRL's) send requests that are equal in it to one of them. */
const sessionHeader = "x-session-id";

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
      const sequence = await this.#sample(request, signal);
      this.#gate.speedUp();
      return sequence;
    }, signal);
  }

  async #sample(request: SamplerRequest, signal: AbortSignal): Promise<SampledSequence> {
    const number = this.#next++;
    for (let lost = 0; ; lost++) {
      try {
        const requestId = await this.#begin(request, number, signal);
        return only(await this.#connection.result(requestId, { what: "Sampling", signal }));
      } catch (error) {
        if (failureOf(error)?.status !== 410 || lost === maxResubmissions) throw error;
      }
    }
  }

  async #begin(request: SamplerRequest, number: number, signal: AbortSignal): Promise<string> {
    const onFailure = ({ status }: { readonly status?: number }): void => {
      if (status === 429) this.#gate.slowDown();
    };
    const headers = { "x-tinker-sampling-backpressure": "1", ...(request.session === undefined ? {} : { [sessionHeader]: request.session }) };
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

  #payload({ prompt, sampling, seed, stopTokens }: SamplerRequest, number: number): Payload {
    const { temperature, topP, topK, maxTokens } = sampling;
    return jsonPayload("/api/v1/asample", {
      num_samples: 1,
      prompt: { chunks: [{ type: "encoded_text", tokens: [...prompt] }] },
      /** Servers differ in their defaults, so everything is said. Seeds are kept below 2^31 for those that store them signed. */
      sampling_params: { max_tokens: maxTokens, seed: seed & 0x7fffffff, stop: stopTokens, temperature, top_k: topK === 0 ? -1 : topK, top_p: topP },
      sampling_session_id: this.#id,
      seq_id: number,
      prompt_logprobs: false,
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
