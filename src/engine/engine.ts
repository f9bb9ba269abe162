import { Worker } from "node:worker_threads";
import { SpadeError } from "../core/errors.ts";
import type { SpadeErrorOptions } from "../core/errors.ts";
import type {
  AdamSettings,
  CrossEntropyRow,
  EngineOptions,
  EngineSample,
  EngineSampleRequest,
  PolicyGradientMetrics,
  PolicyGradientRow,
  PolicyGradientSettings,
  StepMetrics,
  TransformerConfig,
} from "./types.ts";

/** Methods of the engine as the worker implements them; every argument and result can be structured-cloned. */
export interface EngineMethods {
  sample(requests: readonly EngineSampleRequest[]): Promise<EngineSample[]>;
  crossEntropyStep(rows: readonly CrossEntropyRow[], adam: AdamSettings): Promise<StepMetrics>;
  crossEntropyLoss(rows: readonly CrossEntropyRow[]): Promise<{ loss: number; tokens: number }>;
  logprobs(rows: readonly { tokens: Int32Array; temperature: number }[]): Promise<Float32Array[]>;
  policyGradientUpdate(rows: readonly PolicyGradientRow[], settings: PolicyGradientSettings): Promise<PolicyGradientMetrics>;
  save(directory: string, options?: { optimiser?: boolean }): Promise<void>;
  load(directory: string): Promise<void>;
  exportWeights(): Promise<Record<string, Float32Array>>;
  setReference(weights?: Record<string, Float32Array>): Promise<void>;
}

export type EngineRequest = { readonly id: number; readonly method: keyof EngineMethods; readonly args: readonly unknown[] };
export type EngineReply =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly code: string; readonly message: string; readonly details: SpadeErrorOptions["details"] };

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/**
 * The embedded engine: one transformer with its optimiser state, in a worker thread of its own. Calls are run one
 * after the other in the order in which they were made. Close it, or the process stays alive.
 */
export class EngineHost implements EngineMethods {
  readonly config: TransformerConfig;
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #closed: SpadeError | undefined;

  private constructor(worker: Worker, config: TransformerConfig) {
    this.#worker = worker;
    this.config = config;
    worker.on("message", (reply: EngineReply) => this.#settle(reply));
    worker.on("error", (error: Error) => this.#fail(new SpadeError("engine.worker", `The engine's thread failed: ${error.message}. Start a new engine and load the last checkpoint.`, { cause: error })));
    worker.on("exit", () => this.#fail(new SpadeError("engine.closed", "The engine was closed; create a new one.")));
  }

  /**
   * Starts the engine. `source` says where the weights come from: a seed, given tensors, or a model directory.
   * @throws SpadeError engine.config, engine.weights
   */
  static async create(options: EngineOptions): Promise<EngineHost> {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData: options });
    const config = await new Promise<TransformerConfig>((resolve, reject) => {
      worker.once("error", reject);
      worker.once("message", (first: { config: TransformerConfig } | Extract<EngineReply, { ok: false }>) => {
        worker.off("error", reject);
        if ("config" in first) resolve(first.config);
        else reject(errorOf(first));
      });
    }).catch(async (error: unknown) => {
      await worker.terminate();
      throw error;
    });
    return new EngineHost(worker, config);
  }

  /** Samples one continuation per request, in order. Equal requests, weights and threads give equal samples. @throws SpadeError engine.contextLength, engine.request */
  sample(requests: readonly EngineSampleRequest[]): Promise<EngineSample[]> {
    return this.#call("sample", requests);
  }

  /** One optimiser step on Σ w·CE / Σ w. @throws SpadeError engine.nonFinite (weights unchanged), engine.request */
  crossEntropyStep(rows: readonly CrossEntropyRow[], adam: AdamSettings): Promise<StepMetrics> {
    return this.#call("crossEntropyStep", rows, adam);
  }

  /** The same loss, without an update. */
  crossEntropyLoss(rows: readonly CrossEntropyRow[]): Promise<{ loss: number; tokens: number }> {
    return this.#call("crossEntropyLoss", rows);
  }

  /** Log-probability of every token but the first (entry 0 is 0) under softmax(logits / temperature). */
  logprobs(rows: readonly { tokens: Int32Array; temperature: number }[]): Promise<Float32Array[]> {
    return this.#call("logprobs", rows);
  }

  /** One policy-gradient update of `settings.minibatches` optimiser steps. @throws SpadeError engine.nonFinite (weights as before the call), engine.request */
  policyGradientUpdate(rows: readonly PolicyGradientRow[], settings: PolicyGradientSettings): Promise<PolicyGradientMetrics> {
    return this.#call("policyGradientUpdate", rows, settings);
  }

  /** Writes config.json and weights.safetensors into an existing directory, and by default what resuming needs: optimiser.safetensors and, if a reference is set, reference.safetensors. */
  save(directory: string, options: { optimiser?: boolean } = {}): Promise<void> {
    return this.#call("save", directory, options);
  }

  /** Loads weights and, when present, optimiser state (else it is reset) and reference (else it stays). @throws SpadeError engine.weights, engine.config */
  load(directory: string): Promise<void> {
    return this.#call("load", directory);
  }

  /** A copy of the weights by name. */
  exportWeights(): Promise<Record<string, Float32Array>> {
    return this.#call("exportWeights");
  }

  /** Sets the reference policy of the KL term: the given weights, or the present ones. */
  setReference(weights?: Record<string, Float32Array>): Promise<void> {
    return this.#call("setReference", weights);
  }

  /** Ends the thread; pending calls reject with engine.closed. */
  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #call<M extends keyof EngineMethods>(method: M, ...args: Parameters<EngineMethods[M]>): ReturnType<EngineMethods[M]> {
    const reply = new Promise((resolve, reject: (error: Error) => void) => {
      if (this.#closed) {
        reject(this.#closed);
        return;
      }
      const id = this.#nextId++;
      this.#pending.set(id, { resolve, reject });
      this.#worker.postMessage({ id, method, args: args.map(compact) } satisfies EngineRequest);
    });
    return reply as ReturnType<EngineMethods[M]>;
  }

  #settle(reply: EngineReply): void {
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (reply.ok) pending?.resolve(reply.value);
    else pending?.reject(errorOf(reply));
  }

  #fail(error: SpadeError): void {
    this.#closed ??= error;
    for (const pending of this.#pending.values()) pending.reject(this.#closed);
    this.#pending.clear();
  }
}

/** Copies typed arrays that are views of a larger buffer: posting one would send the whole buffer. */
function compact(value: unknown): unknown {
  if (value instanceof Int32Array || value instanceof Float32Array || value instanceof Uint8Array) {
    return value.byteLength === value.buffer.byteLength ? value : value.slice();
  }
  if (Array.isArray(value)) return value.map(compact);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, compact(item)]));
}

function errorOf(reply: Extract<EngineReply, { ok: false }>): SpadeError {
  return new SpadeError(reply.code as SpadeError["code"], reply.message, reply.details === undefined ? {} : { details: reply.details });
}
