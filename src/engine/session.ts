import * as ort from "onnxruntime-node";
import { SpadeError } from "../core/errors.ts";
import type { Outputs } from "./graph.ts";
import { onnxModel } from "./onnx.ts";

/** A tensor on its way into a session: a view, never copied. */
export interface Feed {
  readonly data: Float32Array | Int32Array;
  readonly shape: readonly number[];
}

/** A compiled graph, run by ONNX Runtime on the calling thread. */
export class Session {
  readonly #session: ort.InferenceSession;

  private constructor(session: ort.InferenceSession) {
    this.#session = session;
  }

  static async create(outputs: Outputs, threads: number, profile?: string): Promise<Session> {
    const options: ort.InferenceSession.SessionOptions = {
      executionProviders: ["cpu"],
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      graphOptimizationLevel: "all",
      logSeverityLevel: 3,
      ...(profile === undefined ? {} : { enableProfiling: true, profileFilePrefix: profile }),
    };
    return new Session(await ort.InferenceSession.create(onnxModel(outputs), options));
  }

  /** Runs the graph; results are fresh float arrays by output name. */
  async run(feeds: Readonly<Record<string, Feed>>): Promise<Record<string, Float32Array>> {
    const tensors: Record<string, ort.Tensor> = {};
    for (const [name, { data, shape }] of Object.entries(feeds)) {
      tensors[name] = data instanceof Int32Array ? new ort.Tensor("int32", data, shape) : new ort.Tensor("float32", data, shape);
    }
    const results = await this.#session.run(tensors);
    const values: Record<string, Float32Array> = {};
    for (const [name, tensor] of Object.entries(results)) values[name] = tensor.data as Float32Array;
    return values;
  }

  endProfiling(): void {
    this.#session.endProfiling();
  }

  async release(): Promise<void> {
    await this.#session.release();
  }
}

/** The named result of a run. @throws SpadeError internal.graph */
export function result(values: Readonly<Record<string, Float32Array>>, name: string): Float32Array {
  const value = values[name];
  if (value === undefined) throw new SpadeError("internal.graph", `The graph has no output ${name}. This is a bug in spade-rl; please report it.`);
  return value;
}
