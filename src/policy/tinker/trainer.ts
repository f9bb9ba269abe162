import { SpadeError } from "../../core/errors.ts";
import { Rng } from "../../core/seed.ts";
import { split } from "../../engine/policy-gradient.ts";
import { refuseStale } from "../checks.ts";
import type { Loss, Optimiser, Trainer, TrainingRow, UpdateMetrics } from "../policy.ts";
import { readCheckpoint, writeCheckpoint } from "./checkpoint.ts";
import { nonFinite } from "./failures.ts";
import { type AdamParams, Model } from "./model.ts";
import { compare, forwardDatum, imitationDatum, policyDatum, prepareRow, type PreparedRow, refuseNonFinite, refuseTemperature, scaleStep, stepLoss } from "./rows.ts";
import type { Shared } from "./tinker.ts";
import type { Datum, ForwardBackwardOutput, ServerLoss } from "./wire.ts";

type Batch = Parameters<Trainer["update"]>[0];

interface StepResult {
  readonly loss: number;
  readonly clipped: number;
  readonly gradientNorm: number;
}

/**
 * Updates an adapter on a Tinker server; each update makes one policy version. The loss is the embedded engine's: clipped around the
 * trainer's log-probabilities before the update, which a forward pass gives, with truncated importance weights to the sampler.
 */
export class TinkerTrainer implements Trainer {
  readonly #shared: Shared;
  #saves = 0;

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  get policyVersion(): number {
    return this.#shared.policyVersion;
  }

  /**
   * What is wrong with the batch is found before anything is sent. When the server fails in the middle, further updates are refused until
   * a checkpoint is loaded, because nobody knows the weights.
   * @throws SpadeError policy.stale, policy.nonFinite, policy.row, policy.unsupported, policy.samplingMismatch, policy.interrupted, policy.*
   */
  async update(batch: Batch, loss: Loss, optimiser: Optimiser): Promise<UpdateMetrics> {
    this.#refuseLoss(loss);
    const rows = batch.rows.map((row) => this.#prepare(row)).filter(({ row }) => row.weight > 0);
    if (rows.length === 0) throw new SpadeError("policy.row", "An update has no rows with a weight above 0. Give at least one row with a sampled token.");
    const update = this.#inTurn(() => this.#run({ rows, seed: batch.seed }, loss, optimiser));
    this.#shared.idle = Promise.allSettled([update]).then(() => undefined);
    return update;
  }

  /** Saves weights and optimiser state on the server, and in the directory where they are. */
  async save(directory: string): Promise<void> {
    await this.#shared.idle;
    const { model, options, policyVersion } = this.#shared;
    const path = await model.saveWeights(`v${policyVersion}-${this.#saves++}`);
    await writeCheckpoint(directory, { policyVersion, path, baseModel: options.baseModel, rank: options.lora.rank });
  }

  /** @throws SpadeError policy.checkpoint, policy.lost when the server no longer has the weights; the state is then as before */
  async load(directory: string): Promise<void> {
    const { session, options, model: before } = this.#shared;
    const { policyVersion, path } = await readCheckpoint(directory, { baseModel: options.baseModel, rank: options.lora.rank });
    const model = before.untouched ? before : await Model.create(session, options);
    await model.loadWeights(path);
    Object.assign(this.#shared, { model, policyVersion, published: undefined });
    if (model !== before) await before.unload();
  }

  /** Runs an update after those before it; where sampling disturbs training, after the samples in progress too. */
  async #inTurn(update: () => Promise<UpdateMetrics>): Promise<UpdateMetrics> {
    const { idle, sampling, session } = this.#shared;
    await idle;
    if (session.connection.profile.samplingOverwritesTraining) await sampling;
    return update();
  }

  async #run(batch: { readonly rows: readonly PreparedRow[]; readonly seed: number }, loss: Loss, optimiser: Optimiser): Promise<UpdateMetrics> {
    const { rows } = batch;
    const old = await this.#old(rows, loss);
    const comparison = loss.kind === "crossEntropy" ? { entropy: {}, kl: {}, logprobGap: 0, tokens: rows.reduce((sum, { sampled }) => sum + sampled, 0) } : compare(rows, old);
    const results: StepResult[] = [];
    for (const indices of split(new Rng(batch.seed).shuffle(rows.map((_, i) => i)), optimiser.minibatches)) {
      const part = indices.map((i) => ({ prepared: rows[i] as PreparedRow, old: old[i] ?? new Float32Array() }));
      results.push(await this.#step(part, loss, optimiser));
    }
    this.#shared.published = undefined;
    this.#shared.policyVersion += 1;
    const mean = (key: "loss" | "gradientNorm"): number => results.reduce((sum, result) => sum + result[key], 0) / results.length;
    const clipped = results.reduce((sum, result) => sum + result.clipped, 0);
    return { policyVersion: this.policyVersion, loss: mean("loss"), gradientNorm: mean("gradientNorm"), clipFraction: clipped / comparison.tokens, ...comparison };
  }

  /** The trainer's log-probabilities before the update; cross-entropy needs none. */
  async #old(rows: readonly PreparedRow[], loss: Loss): Promise<readonly Float32Array[]> {
    if (loss.kind === "crossEntropy") return [];
    const { logprobs } = await this.#shared.model.forward(rows.map(forwardDatum), { name: "cross_entropy" });
    refuseNonFinite(rows, logprobs, "The forward pass");
    return logprobs;
  }

  /** One backward pass and one optimiser step; nothing is stepped on before every number of the pass was seen to be finite. */
  async #step(part: readonly { readonly prepared: PreparedRow; readonly old: Float32Array }[], loss: Loss, optimiser: Optimiser): Promise<StepResult> {
    const { model } = this.#shared;
    const rows = part.map(({ prepared }) => prepared);
    let output: ForwardBackwardOutput;
    let metrics: Readonly<Record<string, number>>;
    try {
      output = await model.forwardBackward(this.#requests(part, loss), serverLoss(loss));
      refuseNonFinite(rows, output.logprobs, "The backward pass");
      refuseMetrics(output);
      metrics = await model.optimStep(adamOf(optimiser));
    } catch (error) {
      // A gradient that nobody knows may have accumulated: it must never be stepped on.
      model.condemn(error);
      throw error;
    }
    return { ...stepLoss(rows, { now: output.logprobs, old: part.map(({ old }) => old) }, loss), gradientNorm: gradientNormOf(metrics) };
  }

  /** The step's datums in requests, scaled for the server's reduction. */
  #requests(part: readonly { readonly prepared: PreparedRow; readonly old: Float32Array }[], loss: Loss): Datum[][] {
    const { model, session } = this.#shared;
    const of = new Map<Datum, PreparedRow>(part.map(({ prepared, old }) => [loss.kind === "crossEntropy" ? imitationDatum(prepared) : policyDatum(prepared, old, loss), prepared]));
    const requests = model.split([...of.keys()]).map((datums) => datums.map((datum) => ({ datum, prepared: of.get(datum) as PreparedRow })));
    return scaleStep(requests, session.connection.profile.reduction, loss.kind === "crossEntropy" ? "weights" : "advantages");
  }

  #refuseLoss(loss: Loss): void {
    if (loss.kind === "crossEntropy") {
      const { reduction } = this.#shared.session.connection.profile;
      if (reduction !== "sum") throw new SpadeError("policy.unsupported", `This server divides cross-entropy by its weights (reduction ${reduction}), so that rows cannot be weighted. Use a server that sums, or the policy gradient.`);
      return;
    }
    if (loss.klCoefficient > 0 || loss.entropyCoefficient > 0) {
      throw new SpadeError("policy.unsupported", `The losses of Tinker servers have no KL and no entropy term, but klCoefficient is ${loss.klCoefficient} and entropyCoefficient ${loss.entropyCoefficient}. Set both to 0, or use the embedded engine.`);
    }
  }

  #prepare(row: TrainingRow): PreparedRow {
    const { options, contextLength } = this.#shared;
    refuseStale(row, { policyVersion: this.policyVersion, maxPolicyLag: options.maxPolicyLag });
    if (!options.allowSamplingMismatch) refuseTemperature(row);
    return prepareRow(row, contextLength);
  }
}

/** The clip bounds are always said, because servers differ in their defaults. */
function serverLoss(loss: Loss): ServerLoss {
  if (loss.kind === "crossEntropy") return { name: "cross_entropy" };
  return { name: "ppo", config: { clip_low_threshold: 1 - loss.clipLow, clip_high_threshold: 1 + loss.clipHigh } };
}

function adamOf({ learningRate, beta1, beta2, epsilon, weightDecay, maxGradientNorm }: Optimiser): AdamParams {
  return { learning_rate: learningRate, beta1, beta2, eps: epsilon, weight_decay: weightDecay, grad_clip_norm: maxGradientNorm };
}

function refuseMetrics({ metrics }: ForwardBackwardOutput): void {
  const bad = Object.entries(metrics).find(([, value]) => !Number.isFinite(value));
  if (bad !== undefined) throw nonFinite(`The backward pass reports ${bad[0]} ${bad[1]}`);
}

/** The gradient's norm among a server's metrics; NaN when it reports none. */
function gradientNormOf(metrics: Readonly<Record<string, number>>): number {
  return Object.entries(metrics).find(([name]) => /grad(ient)?_norm/.test(name))?.[1] ?? NaN;
}
