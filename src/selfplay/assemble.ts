import { samplingMismatches } from "../config/consistency.ts";
import type { Config } from "../config/schema.ts";
import { monotonicClock } from "../core/clock.ts";
import { promptSets } from "../designer/prompt-sets.ts";
import { loadSuite } from "../evaluation/suite.ts";
import type { ReadVariable } from "../http/secret.ts";
import type { Spending } from "../policy/openai/spending.ts";
import { openSandbox } from "../sandbox/pool.ts";
import { describeIsolation, type Isolation } from "../sandbox/second-layer.ts";
import { modelAuditor } from "./auditor.ts";
import { openConfiguredCorpus } from "./corpus.ts";
import { type Dependencies, type DesignDependencies, designerOf, gatesOf, type Speaker } from "./dependencies.ts";
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
export type AssembledDesign = Started<Omit<DesignDependencies, "store">>;

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
  return start(config, surroundings, openSpeaker);
}

/** What designing and training share; `open` starts the policy that plays. */
async function start<S extends OpenSpeaker>(config: Config, { listener, readVariable }: Surroundings, open: (config: Config, surroundings: EngineSurroundings) => Promise<S>): Promise<AssembledDesign & { readonly speaker: S }> {
  const notice = (text: string): void => listener({ kind: "notice", text });
  const corpus = await openConfiguredCorpus(config.corpus, { readVariable, notice });
  const stack = new AsyncDisposableStack();
  stack.defer(() => corpus.close());
  try {
    const surroundings: EngineSurroundings = { readVariable, notice };
    const speaker = stack.use(await open(config, surroundings));
    const fixed = config.designer.kind === "fixed" ? stack.use(await openSpeaker(samplingOnly(config, config.designer.policy), surroundings)) : undefined;
    const advisor = config.advisor === undefined ? undefined : await openEndpoint(config.advisor.policy, { seed: config.run.seed, readVariable });
    stack.defer(() => tellSpent({ policy: speaker, designer: fixed, advisor }, listener));
    const sandbox = await openSandbox(config.sandbox);
    stack.defer(() => sandbox.close());
    const parts: AssembledDesign["parts"] = {
      config,
      gates: gatesOf(config),
      designer: designerOf(config, speaker, fixed),
      ...advisorParts(config, advisor),
      sandbox,
      corpus,
      kinds: loadProgramKinds(speaker.directory),
      clock: monotonicClock,
      listener,
    };
    const notes = [`sandbox: ${describeIsolation(sandbox.isolation)}`, ...[...config.notes, ...samplingMismatches(config)].map((text) => `Note: ${text}`), ...speaker.notes];
    const owned = stack.move();
    return { speaker, parts, isolation: sandbox.isolation, notes, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

/** What the second model does. It follows instructions, so it is asked in full. */
function advisorParts({ advisor: spec, gates, design, run }: Config, advisor: Speaker | undefined): Pick<DesignDependencies, "hinter" | "auditor"> {
  if (spec === undefined || advisor === undefined) return {};
  const { policy, renderer } = advisor;
  return {
    ...(spec.writesHints ? { hinter: { policy, renderer, prompts: promptSets.full } } : {}),
    ...(gates.audit?.enabled === true ? { auditor: modelAuditor(advisor, { sampling: { ...design.sampling, temperature: 0 }, seed: run.seed }) } : {}),
  };
}

/** Tells what those of the speakers took that are endpoints; to be called when nobody asks them any more. */
function tellSpent(speakers: Readonly<Record<string, { readonly spending?: Spending } | undefined>>, listener: Listener): void {
  const spent = Object.entries(speakers).flatMap(([name, speaker]) => (speaker?.spending === undefined ? [] : [[name, speaker.spending.spent] as const]));
  if (spent.length > 0) listener({ kind: "spent", spent: Object.fromEntries(spent) });
}

/** The configuration of a policy that is never trained, so that its sampling is free. */
function samplingOnly(config: Config, policy: Config["policy"]): Config {
  return { ...config, policy, allowSamplingMismatch: true };
}
