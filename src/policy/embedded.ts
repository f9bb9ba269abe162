import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SpadeError, messageOf } from "../core/errors.ts";
import { Rng } from "../core/seed.ts";
import { flatten } from "../core/trajectory.ts";
import type { EngineHost } from "../engine/engine.ts";
import type { PolicyGradientRow, StepMetrics } from "../engine/types.ts";
import { checkRequest, refuseStale } from "./checks.ts";
import type { Loss, Optimiser, Policy, Sample, SampleRequest, Trainer, UpdateMetrics } from "./policy.ts";

export interface EmbeddedOptions {
  /** Token that ends a response. */
  readonly stopToken: number;
  /** Versions a row may lag behind the weights it updates. */
  readonly maxPolicyLag: number;
  /** Keep the weights as they are now as the reference of the KL term (a checkpoint then holds them too). */
  readonly keepReference: boolean;
  /** Accept topP and topK although the loss models the untruncated distribution (invariant 10). */
  readonly allowSamplingMismatch: boolean;
}

type Batch = Parameters<Trainer["update"]>[0];

/** What the policy and the trainer of one engine share. */
interface Shared {
  readonly host: EngineHost;
  readonly options: EmbeddedOptions;
  policyVersion: number;
  /** Settles when the update in progress has ended, so that no sample carries the version before the weights it came from. */
  idle: Promise<unknown>;
}

/** The policy and the trainer of an engine. An update changes what the policy samples from at once. The engine stays the caller's to close. */
export async function embedded(host: EngineHost, options: EmbeddedOptions): Promise<{ policy: EmbeddedPolicy; trainer: EmbeddedTrainer }> {
  if (options.keepReference) await host.setReference();
  const shared: Shared = { host, options, policyVersion: 0, idle: Promise.resolve() };
  return { policy: new EmbeddedPolicy(shared), trainer: new EmbeddedTrainer(shared) };
}

/** Samples from the embedded engine. @throws SpadeError policy.contextLength, policy.samplingMismatch */
export class EmbeddedPolicy implements Policy {
  readonly #shared: Shared;

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  get contextLength(): number {
    return this.#shared.host.config.contextLength;
  }

  async sample(requests: readonly SampleRequest[]): Promise<readonly Sample[]> {
    const { host, options } = this.#shared;
    for (const request of requests) checkRequest(request, { contextLength: this.contextLength, allowSamplingMismatch: options.allowSamplingMismatch });
    await this.#shared.idle;
    const { policyVersion } = this.#shared;
    const samples = await host.sample(requests.map(({ prompt, sampling, seed }) => ({ prompt, ...sampling, stopToken: options.stopToken, seed })));
    return samples.map((sample) => ({ ...sample, policyVersion }));
  }
}

/** Updates the embedded engine's weights; each update makes one policy version. */
export class EmbeddedTrainer implements Trainer {
  readonly #shared: Shared;

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  get policyVersion(): number {
    return this.#shared.policyVersion;
  }

  /**
   * The weights are as before when it throws (but a cross-entropy update keeps the minibatches already done).
   * @throws SpadeError policy.stale, engine.nonFinite, engine.request
   */
  async update(batch: Batch, loss: Loss, optimiser: Optimiser): Promise<UpdateMetrics> {
    batch.rows.forEach((row) => refuseStale(row, { policyVersion: this.policyVersion, maxPolicyLag: this.#shared.options.maxPolicyLag }));
    const update = this.#run(batch, loss, optimiser);
    this.#shared.idle = Promise.allSettled([this.#shared.idle, update]);
    return update;
  }

  async save(directory: string): Promise<void> {
    await this.#shared.host.save(directory);
    const path = join(directory, "policy.json");
    await writeFile(`${path}.partial`, `${JSON.stringify({ policyVersion: this.policyVersion })}\n`);
    await rename(`${path}.partial`, path);
  }

  /** @throws SpadeError engine.weights, engine.config, policy.checkpoint; the state is then as before */
  async load(directory: string): Promise<void> {
    const policyVersion = await readPolicyVersion(join(directory, "policy.json"));
    await this.#shared.host.load(directory);
    this.#shared.policyVersion = policyVersion;
  }

  async #run(batch: Batch, loss: Loss, optimiser: Optimiser): Promise<UpdateMetrics> {
    const metrics = loss.kind === "crossEntropy" ? await this.#crossEntropy(batch, optimiser) : await this.#policyGradient(batch, loss, optimiser);
    this.#shared.policyVersion += 1;
    return { ...metrics, policyVersion: this.policyVersion };
  }

  async #policyGradient(batch: Batch, loss: Extract<Loss, { kind: "policyGradient" }>, optimiser: Optimiser): Promise<Omit<UpdateMetrics, "policyVersion">> {
    const rows: PolicyGradientRow[] = batch.rows.map(({ trajectory, advantage, weight, temperature }) => ({ ...flatten(trajectory), advantage, weight, temperature, group: trajectory.role }));
    return this.#shared.host.policyGradientUpdate(rows, { ...loss, adam: optimiser, minibatches: optimiser.minibatches, seed: batch.seed });
  }

  async #crossEntropy(batch: Batch, optimiser: Optimiser): Promise<Omit<UpdateMetrics, "policyVersion">> {
    const rows = new Rng(batch.seed).shuffle(batch.rows).map(({ trajectory, weight }) => {
      const { tokens, mask } = flatten(trajectory);
      return { tokens, weights: Float32Array.from(mask, (sampled) => sampled * weight) };
    });
    const steps: StepMetrics[] = [];
    const size = Math.ceil(rows.length / optimiser.minibatches);
    for (let start = 0; start < rows.length; start += size) steps.push(await this.#shared.host.crossEntropyStep(rows.slice(start, start + size), optimiser));
    const mean = (key: "loss" | "gradientNorm"): number => steps.reduce((sum, step) => sum + step[key], 0) / steps.length;
    const tokens = steps.reduce((sum, step) => sum + step.tokens, 0);
    return { loss: mean("loss"), gradientNorm: mean("gradientNorm"), entropy: {}, kl: {}, clipFraction: 0, logprobGap: 0, tokens };
  }
}

async function readPolicyVersion(path: string): Promise<number> {
  try {
    const stored: unknown = JSON.parse(await readFile(path, "utf8"));
    const version = typeof stored === "object" && stored !== null && "policyVersion" in stored ? stored.policyVersion : undefined;
    if (typeof version === "number" && Number.isInteger(version)) return version;
  } catch (error) {
    throw new SpadeError("policy.checkpoint", `The checkpoint file ${path} cannot be read: ${messageOf(error)}. Use another checkpoint.`, { cause: error, details: { path } });
  }
  throw new SpadeError("policy.checkpoint", `The checkpoint file ${path} holds no whole policyVersion. Use another checkpoint.`, { details: { path } });
}
