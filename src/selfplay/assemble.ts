import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { embeddedRenderer } from "../chat/renderer.ts";
import { mergeInputs } from "../config/merge.ts";
import type { Config } from "../config/schema.ts";
import { monotonicClock } from "../core/clock.ts";
import { bundledCorpus, openCorpus } from "../corpus/corpus.ts";
import { loadTokenizer } from "../engine/bpe.ts";
import { EngineHost } from "../engine/engine.ts";
import { loadSuite } from "../evaluation/suite.ts";
import { defaultGates, type GatesConfig } from "../gates/config.ts";
import { embedded } from "../policy/embedded.ts";
import { openSandbox } from "../sandbox/pool.ts";
import { describeIsolation, type Isolation } from "../sandbox/second-layer.ts";
import type { Dependencies } from "./dependencies.ts";
import type { Listener } from "./events.ts";
import { loadProgramKinds } from "./program-kinds.ts";

/** The parts of a run, started; disposing of it stops them. */
export interface Assembled extends AsyncDisposable {
  readonly parts: Omit<Dependencies, "store">;
  /** What stands between environment programs and this machine; part of a run's provenance. */
  readonly isolation: Isolation;
  /** What the user should know before the first iteration. */
  readonly notes: readonly string[];
}

/** A path of the configuration: relative ones are taken from the package's root. */
export function packagePath(path: string): string {
  return isAbsolute(path) ? path : join(fileURLToPath(new URL("../../", import.meta.url)), path);
}

/** Starts engine and sandbox and opens corpus and suites. @throws SpadeError engine.*, sandbox.*, corpus.*, usage.suite */
export async function assemble(config: Config, listener: Listener): Promise<Assembled> {
  const model = packagePath(config.policy.model);
  const tokenizer = await loadTokenizer(join(model, "tokenizer.json"));
  const corpus = await openCorpus(config.corpus.paths.length === 0 ? bundledCorpus() : config.corpus.paths.map(packagePath), { maxWords: config.corpus.maxWords });
  const suites = await Promise.all(config.evaluation.suites.map((directory) => loadSuite(packagePath(directory))));
  const stack = new AsyncDisposableStack();
  stack.defer(() => corpus.close());
  try {
    const host = await EngineHost.create({ source: { kind: "directory", directory: model }, threads: config.policy.threads });
    stack.defer(() => host.close());
    const sandbox = await openSandbox(config.sandbox);
    stack.defer(() => sandbox.close());
    const { policy, trainer } = await embedded(host, {
      stopToken: tokenizer.special.end,
      maxPolicyLag: config.update.maxPolicyLag,
      keepReference: config.update.loss.klCoefficient > 0,
      allowSamplingMismatch: config.allowSamplingMismatch,
    });
    const parts: Assembled["parts"] = {
      config,
      gates: { ...(mergeInputs(defaultGates, config.gates) as GatesConfig), maxTurns: config.play.maxTurns },
      policy,
      trainer,
      renderer: embeddedRenderer(tokenizer),
      sandbox,
      corpus,
      suites,
      kinds: loadProgramKinds(model),
      clock: monotonicClock,
      listener,
    };
    const notes = [`sandbox: ${describeIsolation(sandbox.isolation)}`];
    if (config.allowSamplingMismatch) notes.push("Note: this configuration samples from a distribution that its loss does not model (allowSamplingMismatch).");
    const owned = stack.move();
    return { parts, isolation: sandbox.isolation, notes, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}
