import { mergeInputs } from "../config/merge.ts";
import type { Config } from "../config/schema.ts";
import { monotonicClock } from "../core/clock.ts";
import { loadSuite } from "../evaluation/suite.ts";
import { defaultGates, type GatesConfig } from "../gates/config.ts";
import type { ReadVariable } from "../http/secret.ts";
import { openSandbox } from "../sandbox/pool.ts";
import { describeIsolation, type Isolation } from "../sandbox/second-layer.ts";
import type { Spending } from "../policy/openai/spending.ts";
import { modelAuditor } from "./auditor.ts";
import { openConfiguredCorpus } from "./corpus.ts";
import type { Dependencies, DesignDependencies, Speaker } from "./dependencies.ts";
import { openEndpoint } from "./endpoint.ts";
import { type EngineSurroundings, openEngine, type OpenSpeaker, openSpeaker } from "./engines.ts";
import type { Listener } from "./events.ts";
import { packagePath } from "./paths.ts";
import { loadProgramKinds } from "./program-kinds.ts";

/** Parts that were started; disposing of it stops them. */
interface Started<Parts> extends AsyncDisposable {
  readonly parts: Parts;
  /** What stands between environment programs and this machine; part of a run's provenance. */
  readonly isolation: Isolation;
  /** What the user should know before the first iteration. */
  readonly notes: readonly string[];
}

/** The parts of a run. */
export type Assembled = Started<Omit<Dependencies, "store">>;

/** The parts of designing without training. */
export interface AssembledDesign extends Started<Omit<DesignDependencies, "store">> {
  /** Endpoints that were opened, by what they are for. */
  readonly spending: Readonly<Partial<Record<"policy" | "advisor", Spending>>>;
}

type Surroundings = { readonly listener: Listener; readonly readVariable: ReadVariable };

/** Starts engine and sandbox and opens corpus and suites. @throws SpadeError engine.*, policy.*, http.key, sandbox.*, corpus.*, usage.suite */
export async function assemble(config: Config, surroundings: Surroundings): Promise<Assembled> {
  const suites = await Promise.all(config.evaluation.suites.map((directory) => loadSuite(packagePath(directory))));
  const { speaker, parts, ...started } = await start(config, surroundings, openEngine);
  const { policy, trainer, renderer } = speaker;
  return { ...started, parts: { ...parts, policy, trainer, renderer, suites } };
}

/** Starts policy and sandbox and opens the corpus. @throws SpadeError engine.*, policy.*, http.key, sandbox.*, corpus.* */
export async function assembleDesign(config: Config, surroundings: Surroundings): Promise<AssembledDesign> {
  const { speaker, ...started } = await start(config, surroundings, openSpeaker);
  return { ...started, spending: { ...started.spending, ...(speaker.spending === undefined ? {} : { policy: speaker.spending }) } };
}

/** What designing and training share; `open` starts the policy. */
async function start<S extends OpenSpeaker>(config: Config, { listener, readVariable }: Surroundings, open: (config: Config, surroundings: EngineSurroundings) => Promise<S>): Promise<AssembledDesign & { readonly speaker: S }> {
  const notice = (text: string): void => listener({ kind: "notice", text });
  const corpus = await openConfiguredCorpus(config.corpus, { readVariable, notice });
  const stack = new AsyncDisposableStack();
  stack.defer(() => corpus.close());
  try {
    const speaker = stack.use(await open(config, { readVariable, notice }));
    const advisor = config.advisor === undefined ? undefined : await openEndpoint(config.advisor.policy, { seed: config.run.seed, readVariable });
    const sandbox = await openSandbox(config.sandbox);
    stack.defer(() => sandbox.close());
    const parts: AssembledDesign["parts"] = {
      config,
      gates: { ...(mergeInputs(defaultGates, config.gates) as GatesConfig), maxTurns: config.play.maxTurns },
      policy: speaker.policy,
      renderer: speaker.renderer,
      ...advisorParts(config, advisor),
      sandbox,
      corpus,
      kinds: loadProgramKinds(speaker.directory),
      clock: monotonicClock,
      listener,
    };
    const notes = [`sandbox: ${describeIsolation(sandbox.isolation)}`];
    if (config.allowSamplingMismatch) notes.push("Note: this configuration samples from a distribution that its loss does not model (allowSamplingMismatch).");
    const owned = stack.move();
    return { speaker, parts, spending: advisor === undefined ? {} : { advisor: advisor.spending }, isolation: sandbox.isolation, notes: [...notes, ...speaker.notes], [Symbol.asyncDispose]: () => owned.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

function advisorParts({ gates, design, run }: Config, advisor: Speaker | undefined): Pick<DesignDependencies, "advisor" | "auditor"> {
  if (advisor === undefined) return {};
  return { advisor, ...(gates.audit?.enabled === true ? { auditor: modelAuditor(advisor, { sampling: { ...design.sampling, temperature: 0 }, seed: run.seed }) } : {}) };
}
