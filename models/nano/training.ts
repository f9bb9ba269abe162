import { existsSync } from "node:fs";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { monotonicClock } from "../../src/core/clock.ts";
import { invariant } from "../../src/core/errors.ts";
import { EngineHost } from "../../src/engine/engine.ts";
import { bpeTokenizer, serialiseBpe } from "../../src/engine/bpe.ts";
import type { StepMetrics } from "../../src/engine/types.ts";
import { openSandbox } from "../../src/sandbox/pool.ts";
import { demonstrationsFile } from "../../src/selfplay/program-kinds.ts";
import { BatchFeed } from "./batch-feed.ts";
import { demonstratedPrograms, exampleSource, firstOfPhase, planOf } from "./data.ts";
import type { DataPlan } from "./data.ts";
import { summariseDemonstrations } from "./demonstration-summary.ts";
import { copyRows } from "./copy-rows.ts";
import { exampleKinds } from "./examples.ts";
import type { Batch, Example, ExampleKind } from "./examples.ts";
import { learningRateAt, recipe } from "./recipe.ts";
import type { Phase } from "./recipe.ts";
import { loadCheckpoint, LossCurve, saveCheckpoint } from "./run-state.ts";
import type { RunPosition } from "./run-state.ts";

export interface PretrainOptions {
  /** Directory of the run: checkpoints, loss curve. A run found there is continued. */
  readonly state: string;
  /** Directory that gets the finished model. */
  readonly out: string;
  /** Length of all phases together in tokens, in place of the recipe's: for trials. */
  readonly tokens?: number;
  readonly threads: number;
  readonly checkpointMinutes: number;
  readonly report: (line: string) => void;
  /** Ends the run early: the present step is finished and saved. */
  readonly stop: AbortSignal;
}

const minute = 60_000;
const validateEverySteps = 100;
const reportEverySteps = 10;

/** Trains the nano model, or continues its training; writes the model when the run is complete. Returns whether it is. */
export async function pretrain(options: PretrainOptions): Promise<boolean> {
  options.report("making the tokenizer and the data plan");
  await mkdir(options.state, { recursive: true });
  const plan = await planOf(options.state);
  const { vocabularySize } = bpeTokenizer(plan.bpe);
  await writeFile(join(options.state, "tokenizer.json"), serialiseBpe(plan.bpe));
  const source = { kind: "seed", config: { ...recipe.model, vocabularySize }, seed: recipe.seed } as const;
  const engine = await EngineHost.create({ source, threads: options.threads });
  try {
    const run = new Run(options, plan, engine);
    return await run.toEnd();
  } finally {
    await engine.close();
  }
}

/** Mean loss per kind of demonstration, over what the policy says itself. */
async function validationLosses(engine: EngineHost, examples: readonly Example[]): Promise<Record<ExampleKind, number>> {
  const losses = { designer: 0, hint: 0, agent: 0 };
  for (const kind of exampleKinds) {
    losses[kind] = (await engine.crossEntropyLoss(examples.filter((example) => example.kind === kind))).loss;
  }
  return losses;
}

class Run {
  readonly #options: PretrainOptions;
  readonly #plan: DataPlan;
  readonly #engine: EngineHost;
  readonly #curve: LossCurve;
  readonly #validation: readonly Example[];
  #position: RunPosition;
  /** Length of the run relative to the recipe's. */
  readonly #scale: number;
  #savedMs = 0;

  constructor(options: PretrainOptions, plan: DataPlan, engine: EngineHost) {
    this.#options = options;
    this.#plan = plan;
    this.#engine = engine;
    this.#curve = new LossCurve(options.state);
    const validationAt = exampleSource(plan, "validation");
    const first = firstOfPhase(recipe.phases.length - 1);
    this.#validation = Array.from({ length: recipe.validationSize * exampleKinds.length }, (_, index) => validationAt(first + index));
    this.#position = { recipe: plan.digest, step: 0, phase: 0, ends: [], phaseTokens: 0, next: 0, tokens: 0, elapsedMs: 0 };
    const total = recipe.phases.reduce((sum, phase) => sum + phase.tokens, 0);
    this.#scale = (options.tokens ?? total) / total;
  }

  /** Runs what is left; returns whether the run is complete. */
  async toEnd(): Promise<boolean> {
    const { options, position } = { options: this.#options, position: await loadCheckpoint(this.#options.state, this.#plan.digest, this.#engine) };
    if (position) this.#position = position;
    this.#savedMs = this.#position.elapsedMs;
    await this.#curve.rewind(this.#position.step);
    options.report(`${position ? "continuing" : "starting"} at step ${this.#position.step}; data shares ${JSON.stringify(this.#plan.shares)}`);
    await this.#runPhase();
    while (this.#progress() >= 1 && this.#position.phase + 1 < recipe.phases.length) {
      const phase = this.#position.phase + 1;
      const ends = [...this.#position.ends, this.#position.next];
      this.#position = { ...this.#position, phase, ends, phaseTokens: 0, next: firstOfPhase(phase) };
      await this.#runPhase();
    }
    await this.#save();
    if (this.#progress() < 1) {
      options.report("stopped and saved; the same command goes on");
      return false;
    }
    await this.#export();
    return true;
  }

  async #runPhase(): Promise<void> {
    const feed = new BatchFeed({ plan: this.#plan, first: this.#position.next });
    try {
      while (this.#progress() < 1 && !this.#options.stop.aborted) await this.#advance(feed);
    } finally {
      await feed.close();
    }
  }

  get #phase(): Phase {
    const phase = recipe.phases[this.#position.phase];
    invariant(phase !== undefined, "a position is in a phase of the recipe");
    return phase;
  }

  /** Share of the phase that is done. */
  #progress(): number {
    return this.#position.phaseTokens / (this.#scale * this.#phase.tokens);
  }

  #learningRate(): number {
    return learningRateAt(this.#progress(), this.#phase.learningRate);
  }

  /** One step of the first phase: copying only, at the peak rate after a short warm-up. */
  async #learnCopying(): Promise<void> {
    const started = monotonicClock();
    const { step } = this.#position;
    const learningRate = this.#phase.learningRate * Math.min(1, (step + 1) / 30);
    const metrics = await this.#engine.crossEntropyStep(copyRows(step, this.#engine.config.vocabularySize, recipe.copying.rowsAlone), { ...recipe.optimiser, learningRate });
    this.#position = { ...this.#position, step: step + 1, elapsedMs: this.#position.elapsedMs + monotonicClock() - started };
    if ((step + 1) % 50 === 0) this.#options.report(`step ${step + 1}  copying  loss ${metrics.loss.toFixed(3)}`);
  }

  async #advance(feed: BatchFeed): Promise<void> {
    if (this.#position.step < recipe.copying.steps) return this.#learnCopying();
    const started = monotonicClock();
    const batch = await feed.next();
    const waitedMs = monotonicClock() - started;
    const rows = [...batch.examples, ...copyRows(this.#position.step, this.#engine.config.vocabularySize, recipe.copying.rowsBeside)];
    const metrics = await this.#engine.crossEntropyStep(rows, { ...recipe.optimiser, learningRate: this.#learningRate() });
    const stepMs = monotonicClock() - started;
    const { step, tokens, phaseTokens, elapsedMs } = this.#position;
    const read = tokensOf(batch);
    this.#position = { ...this.#position, step: step + 1, next: batch.next, tokens: tokens + read, phaseTokens: phaseTokens + read, elapsedMs: elapsedMs + stepMs };
    if (this.#position.step % reportEverySteps === 0) await this.#report(metrics, { tokensPerSecond: (1000 * read) / stepMs, waitedMs });
    if (this.#position.step % validateEverySteps === 0) await this.#validate();
    if (this.#position.elapsedMs - this.#savedMs > this.#options.checkpointMinutes * minute) await this.#save();
  }

  async #report(metrics: StepMetrics, speed: { readonly tokensPerSecond: number; readonly waitedMs: number }): Promise<void> {
    const { step, tokens, elapsedMs } = this.#position;
    const total = this.#scale * recipe.phases.reduce((sum, phase) => sum + phase.tokens, 0);
    const left = (elapsedMs * (total - tokens)) / Math.max(1, tokens) / minute;
    const numbers = [
      `loss ${metrics.loss.toFixed(3)}`,
      `gradient ${metrics.gradientNorm.toFixed(2)}`,
      `${speed.tokensPerSecond.toFixed(0)} tokens/s`,
      `waited ${speed.waitedMs.toFixed(0)} ms`,
      `${(tokens / 1e6).toFixed(2)} M tokens`,
      `${left.toFixed(1)} min left`,
    ];
    this.#options.report(`step ${step}  ${numbers.join("  ")}`);
    await this.#curve.append({ step, tokens, minutes: elapsedMs / minute, loss: metrics.loss, gradientNorm: metrics.gradientNorm, learningRate: this.#learningRate() });
  }

  async #validate(): Promise<void> {
    const losses = await validationLosses(this.#engine, this.#validation);
    const { step, tokens, elapsedMs } = this.#position;
    this.#options.report(`step ${step}  validation  ${exampleKinds.map((kind) => `${kind} ${losses[kind].toFixed(4)}`).join("  ")}`);
    await this.#curve.append({ step, tokens, minutes: elapsedMs / minute, ...losses });
  }

  async #save(): Promise<void> {
    await saveCheckpoint(this.#options.state, this.#position, this.#engine);
    this.#savedMs = this.#position.elapsedMs;
  }

  async #export(): Promise<void> {
    const { out, state, report } = this.#options;
    await mkdir(out, { recursive: true });
    await this.#engine.save(out, { optimiser: false });
    await copyFile(join(state, "tokenizer.json"), join(out, "tokenizer.json"));
    await copyFile(join(state, "loss.jsonl"), join(out, "loss.jsonl"));
    await this.#summarise();
    report(`the pretrained model is in ${out}`);
  }

  /** Writes what the demonstrations looked like, once a run, so that self-play can tell new programs from known ones. */
  async #summarise(): Promise<void> {
    const { out, state, threads, report } = this.#options;
    const path = join(state, demonstrationsFile);
    if (!existsSync(path)) {
      const programs = demonstratedPrograms(this.#plan, [...this.#position.ends, this.#position.next], recipe.summarisedPrograms);
      report(`summarising ${programs.length} demonstrated programs`);
      const sandbox = await openSandbox({ lanes: threads });
      try {
        await writeFile(path, `${JSON.stringify(await summariseDemonstrations(programs, sandbox))}\n`);
      } finally {
        await sandbox.close();
      }
    }
    await copyFile(path, join(out, demonstrationsFile));
  }
}

function tokensOf(batch: Batch): number {
  return batch.examples.reduce((sum, example) => sum + example.tokens.length, 0);
}
