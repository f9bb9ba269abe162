import { samplingMismatches } from "../config/consistency.ts";
import type { Config } from "../config/schema.ts";
import { monotonicClock } from "../core/clock.ts";
import { loadSuite } from "../evaluation/suite.ts";
import type { ReadVariable } from "../http/secret.ts";
import { openSandbox } from "../sandbox/pool.ts";
import { describeIsolation, type Isolation } from "../sandbox/second-layer.ts";
import { openConfiguredCorpus } from "./corpus.ts";
import { type Dependencies, designerOf, gatesOf } from "./dependencies.ts";
import { type EngineSurroundings, openEngine } from "./engines.ts";
import type { Listener } from "./events.ts";
import { packagePath } from "./paths.ts";
import { loadProgramKinds } from "./program-kinds.ts";

/** The parts of a run, started; disposing of it stops them. */
export interface Assembled extends AsyncDisposable {
  readonly parts: Omit<Dependencies, "store">;
  /** What stands between environment programs and this machine; part of a run's provenance. */
  readonly isolation: Isolation;
  /** What the user should know before the first iteration. */
  readonly notes: readonly string[];
}

/** Starts engine and sandbox and opens corpus and suites. @throws SpadeError engine.*, policy.*, http.key, sandbox.*, corpus.*, usage.suite */
export async function assemble(config: Config, { listener, readVariable }: { readonly listener: Listener; readonly readVariable: ReadVariable }): Promise<Assembled> {
  const notice = (text: string): void => listener({ kind: "notice", text });
  const corpus = await openConfiguredCorpus(config.corpus, { readVariable, notice });
  const stack = new AsyncDisposableStack();
  stack.defer(() => corpus.close());
  try {
    const suites = await Promise.all(config.evaluation.suites.map((directory) => loadSuite(packagePath(directory))));
    const surroundings: EngineSurroundings = { readVariable, notice };
    const engine = stack.use(await openEngine(config, surroundings));
    const fixed = config.designer.kind === "fixed" ? stack.use(await openEngine(samplingOnly(config, config.designer.policy), surroundings)) : undefined;
    const sandbox = await openSandbox(config.sandbox);
    stack.defer(() => sandbox.close());
    const parts: Assembled["parts"] = {
      config,
      gates: gatesOf(config),
      policy: engine.policy,
      designer: designerOf(config, engine, fixed),
      trainer: engine.trainer,
      renderer: engine.renderer,
      sandbox,
      corpus,
      suites,
      kinds: loadProgramKinds(engine.directory),
      clock: monotonicClock,
      listener,
    };
    const notes = [`sandbox: ${describeIsolation(sandbox.isolation)}`, ...[...config.notes, ...samplingMismatches(config)].map((text) => `Note: ${text}`), ...engine.notes];
    const owned = stack.move();
    return { parts, isolation: sandbox.isolation, notes, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

/** The configuration of a policy that is never trained, so that its sampling is free. */
function samplingOnly(config: Config, policy: Config["policy"]): Config {
  return { ...config, policy, allowSamplingMismatch: true };
}
