import type { EngineMethods } from "./engine.ts";
import { openModel, flattenWeights, parameterFeeds, readModel, writeModel } from "./model.ts";
import type { Model } from "./model.ts";
import { policyGradientUpdate } from "./policy-gradient.ts";
import { sample } from "./sampling.ts";
import { SessionCache } from "./session-cache.ts";
import { Training, checkLength } from "./training.ts";
import type { AdamSettings, CrossEntropyRow, EngineOptions, EngineSample, EngineSampleRequest, PolicyGradientMetrics, PolicyGradientRow, PolicyGradientSettings, StepMetrics } from "./types.ts";
import { SpadeError } from "../core/errors.ts";

/** Sessions kept at once: two training graphs for each of up to four row lengths, Adam, and the two of sampling. */
const sessionLimit = 11;

/** The engine itself, on the calling thread; `EngineHost` runs it in a worker. */
export class EngineCore implements EngineMethods {
  readonly #model: Model;
  readonly #training: Training;
  readonly #sessions: SessionCache;

  private constructor(model: Model, threads: number) {
    this.#model = model;
    this.#sessions = new SessionCache({ threads, limit: sessionLimit });
    this.#training = new Training(model, this.#sessions);
  }

  static async open(options: EngineOptions): Promise<EngineCore> {
    return new EngineCore(await openModel(options.source), options.threads);
  }

  get config(): Model["config"] {
    return this.#model.config;
  }

  sample(requests: readonly EngineSampleRequest[]): Promise<EngineSample[]> {
    return sample(this.#model, this.#sessions, requests);
  }

  crossEntropyStep(rows: readonly CrossEntropyRow[], adam: AdamSettings): Promise<StepMetrics> {
    return this.#training.crossEntropyStep(rows, adam);
  }

  crossEntropyLoss(rows: readonly CrossEntropyRow[]): Promise<{ loss: number; tokens: number }> {
    return this.#training.crossEntropyLoss(rows);
  }

  logprobs(rows: readonly { tokens: Int32Array; temperature: number }[]): Promise<Float32Array[]> {
    const items = rows.map(({ tokens, temperature }) => {
      checkLength(tokens, this.config.contextLength);
      return { tokens, temperature, targets: Array.from(tokens, (_, t) => t).slice(1) };
    });
    return this.#training.logprobs(items);
  }

  policyGradientUpdate(rows: readonly PolicyGradientRow[], settings: PolicyGradientSettings): Promise<PolicyGradientMetrics> {
    return policyGradientUpdate(this.#training, rows, settings);
  }

  save(directory: string, options: { optimiser?: boolean } = {}): Promise<void> {
    return writeModel(directory, this.#model, options.optimiser ?? true);
  }

  async load(directory: string): Promise<void> {
    const { config, weights, optimiser, reference } = await readModel(directory);
    const same = (Object.keys(this.config) as (keyof typeof config)[]).every((key) => config[key] === this.config[key]);
    if (!same) throw new SpadeError("engine.config", `The model in ${directory} has another shape than this engine's. Create an engine from that directory instead.`, { details: { config, expected: this.config } });
    this.#model.weights = weights;
    this.#model.optimiser = optimiser;
    if (reference !== undefined) this.#model.reference = reference;
  }

  exportWeights(): Promise<Record<string, Float32Array>> {
    const feeds = Object.entries(parameterFeeds(this.config, this.#model.weights));
    return Promise.resolve(Object.fromEntries(feeds.map(([name, { data }]) => [name, Float32Array.from(data)])));
  }

  setReference(weights?: Record<string, Float32Array>): Promise<void> {
    this.#model.reference = weights === undefined ? this.#model.weights : flattenWeights(this.config, weights);
    return Promise.resolve();
  }
}
