import type { LoadedConfig } from "../config/load.ts";
import { resolveConfig } from "../config/load.ts";
import { refuseTraining } from "../config/consistency.ts";
import { SpadeError } from "../core/errors.ts";
import type { ReadVariable } from "../http/secret.ts";
import type { UpdateMetrics } from "../policy/policy.ts";
import { iterationMetrics } from "../report/iteration-metrics.ts";
import { readIterationRows } from "../report/run-rows.ts";
import { pruneCheckpoints, saveCheckpoint } from "../storage/checkpoints.ts";
import type { IterationWriter } from "../storage/iteration-writer.ts";
import { resumePoint } from "../storage/resume.ts";
import { RunStore } from "../storage/run-store.ts";
import { assemble } from "./assemble.ts";
import { type Beginning, nothingJudged } from "./beginning.ts";
import { corpusProvenance, refuseOtherCorpus } from "./corpus.ts";
import { type Dependencies, stageReporter } from "./dependencies.ts";
import { tasksOf } from "./design-run.ts";
import { evaluateSuites } from "./evaluation.ts";
import type { Listener } from "./events.ts";
import { creditIteration, updatePolicy } from "./iteration.ts";
import { preparePool } from "./pool.ts";
import { recordEnd } from "./record.ts";
import { SamplingAhead } from "./sampling-ahead.ts";
import { StageTimes } from "./stage-times.ts";
import { initialState, type LoopState } from "./state.ts";

export interface RunResult {
  readonly directory: string;
  /** Digest of the whole record: equal for an interrupted and resumed run and an uninterrupted one (invariant 12). */
  readonly digest: string;
}

/** Starts a run in a directory of its own; a start that fails leaves no run behind. @throws SpadeError config.cannotTrain, storage.*, policy.*, engine.*, corpus.*, sandbox.* */
export async function createRun(options: {
  readonly directory: string;
  readonly name: string;
  readonly loaded: LoadedConfig;
  readonly programVersion: string;
  readonly provenance: Readonly<Record<string, unknown>>;
  readonly listener: Listener;
  readonly readVariable: ReadVariable;
}): Promise<RunResult> {
  const { directory, name, loaded, programVersion, provenance } = options;
  refuseTraining(loaded.source, loaded.config);
  await using assembled = await assemble(loaded.config, options);
  using store = RunStore.create(directory, { name, programVersion, config: loaded.config, configDigest: loaded.digest, provenance: { ...provenance, sandbox: assembled.isolation, corpus: corpusProvenance(assembled.parts.corpus) } });
  return await loop({ ...assembled.parts, store }, { from: 0, state: initialState, notes: assembled.notes });
}

/**
 * Goes on with a run from its last committed iteration and newest whole checkpoint. What an unfinished iteration left is
 * ignored; a damaged checkpoint is passed over, and the iterations after the older one are made again.
 * @throws SpadeError storage.missing, storage.version, storage.locked, storage.corrupt, corpus.changed
 */
export async function resumeRun(options: { readonly directory: string; readonly programVersion: string; readonly listener: Listener; readonly readVariable: ReadVariable }): Promise<RunResult> {
  const { directory, programVersion, listener } = options;
  using store = RunStore.open(directory, { programVersion });
  if (tasksOf(store) !== undefined) throw new SpadeError("usage.resume", `${directory} is a record of designs, not of a run. Go on with it by: spade design --resume ${directory}`);
  const config = resolveConfig(directory, store.header.config).config;
  const { checkpoint, nextIteration, damaged } = await resumePoint(store);
  if (nextIteration > config.run.iterations) return finish(store, { iterations: config.run.iterations, seconds: 0, listener });
  await using assembled = await assemble(config, options);
  refuseOtherCorpus(assembled.parts.corpus, store.header.provenance);
  const deps = { ...assembled.parts, store };
  const notes = [...assembled.notes, ...damaged.map((error) => error.message)];
  if (checkpoint === undefined) return await loop(deps, { from: 0, state: initialState, notes });
  await deps.trainer.load(checkpoint.directory);
  return await loop(deps, { from: nextIteration, state: readState(store, checkpoint.iteration), notes });
}

interface TimedDependencies extends Dependencies {
  readonly times: StageTimes;
}

/** Runs iterations until the configured number is committed. Iteration 0 measures the untrained policy and trains nothing. */
async function loop(shared: Dependencies, begin: { readonly from: number; readonly state: LoopState; readonly notes: readonly string[] }): Promise<RunResult> {
  const { config, clock, store } = shared;
  const { directory } = store;
  const times = new StageTimes();
  const listener = times.listening(shared.listener);
  const deps: TimedDependencies = { ...shared, listener, times };
  const start = clock();
  listener({ kind: "start", directory, iterations: config.run.iterations, from: begin.from, configDigest: store.header.configDigest, notes: begin.notes });
  let state = begin.from === 0 ? await commitFirst(begin.state, deps) : begin.state;
  await using sampler = new SamplingAhead(deps);
  for (let iteration = Math.max(1, begin.from); iteration <= config.run.iterations; iteration++) state = await commitIteration({ iteration, state, uncommitted: nothingJudged }, sampler, deps);
  return finish(store, { iterations: config.run.iterations, seconds: (clock() - start) / 1000, listener });
}

function finish(store: RunStore, { listener, ...end }: { readonly iterations: number; readonly seconds: number; readonly listener: Listener }): RunResult {
  const result = { directory: store.directory, digest: store.digest() };
  listener({ kind: "end", ...result, ...end });
  return result;
}

/** Iteration 0: the untrained policy is evaluated and, in a control run, the pool is made. */
async function commitFirst(before: LoopState, deps: TimedDependencies): Promise<LoopState> {
  const start = deps.clock();
  const writer = deps.store.beginIteration(0);
  await preparePool(before, deps, writer);
  await commit({ iteration: 0, state: before, updates: [], start }, deps, writer);
  return before;
}

/** Runs one iteration and makes it part of the record; the next one may be sampled from the moment its state is known. */
async function commitIteration(beginning: Beginning, sampler: SamplingAhead, deps: TimedDependencies): Promise<LoopState> {
  const { listener, clock, store } = deps;
  const { iteration } = beginning;
  const start = clock();
  const sampled = await sampler.sample(beginning);
  const writer = store.beginIteration(iteration);
  const { state, rows } = creditIteration(beginning, sampled, deps, writer);
  sampler.begin({ iteration: iteration + 1, state, uncommitted: sampled.judged });
  const updates = await updatePolicy(iteration, rows, deps);
  await commit({ iteration, state, updates, start }, deps, writer);
  const tokens = updates.reduce((sum, metrics) => sum + metrics.tokens, 0);
  listener({ kind: "iteration", iteration, metrics: iterationMetrics(readIterationRows(store, iteration)), update: updateNumbers(updates), tokens, seconds: (clock() - start) / 1000 });
  return state;
}

interface Learned {
  readonly iteration: number;
  readonly state: LoopState;
  readonly updates: readonly UpdateMetrics[];
  /** When the iteration began, by the clock. */
  readonly start: number;
}

/** Evaluates if it is due, saves the checkpoint, and last of all commits. */
async function commit({ iteration, state, updates, start }: Learned, deps: TimedDependencies, writer: IterationWriter): Promise<void> {
  const { config, clock, trainer, store, times } = deps;
  await evaluateIfDue(iteration, deps, writer);
  const report = stageReporter(deps, iteration, "checkpoint");
  report({ done: 0, total: 1 });
  const checkpoint = await saveCheckpoint(store.directory, {
    iteration,
    policyVersion: trainer.policyVersion,
    pinned: iteration === 0 || iteration === config.run.iterations,
    write: (directory) => trainer.save(directory),
  });
  recordEnd(writer, updates, state, checkpoint);
  writer.commit({ policyVersion: trainer.policyVersion, timing: { ...times.take(iteration), totalMs: Math.round(clock() - start) } });
  pruneCheckpoints(store.directory, { keep: config.storage.keepCheckpoints, committed: iteration });
}

async function evaluateIfDue(iteration: number, deps: Dependencies, writer: IterationWriter): Promise<void> {
  const { everyIterations } = deps.config.evaluation;
  const due = iteration === 0 || iteration === deps.config.run.iterations || (everyIterations > 0 && iteration % everyIterations === 0);
  if (due) deps.listener({ kind: "evaluation", iteration, scores: await evaluateSuites(iteration, deps, writer) });
}

function readState(store: RunStore, iteration: number): LoopState {
  for (const row of store.rows("curriculumStates", { iteration })) return row.state as LoopState;
  throw new SpadeError("storage.corrupt", `Iteration ${iteration} of ${store.directory} has no state row. Start a new run; nothing was changed.`);
}

function updateNumbers(updates: readonly UpdateMetrics[]): Record<string, number> {
  const last = updates.at(-1);
  if (last === undefined) return {};
  const { loss, gradientNorm, clipFraction, logprobGap, entropy } = last;
  return { loss, gradientNorm, clipFraction, logprobGap, ...Object.fromEntries(Object.entries(entropy).map(([role, value]) => [`entropy.${role}`, value])) };
}
