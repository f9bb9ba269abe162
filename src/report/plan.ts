import { z } from "zod";
import type { Config } from "../config/schema.ts";

const number = z.number().min(0).exactOptional();
const share = z.number().min(0).max(1).exactOptional();
const rate = z.number().positive().exactOptional();

/** What a plan multiplies counts with; an absent one leaves what depends on it unknown. Token counts are means. */
export const ratesSchema = z.strictObject({
  /** Of all candidates, those that all gates admit. */
  admittedShare: share,
  /** Of all admitted programs, those with a usable hint. */
  hintShare: share,
  /** Of all plain episodes, those whose group carries signal. */
  keptShare: share,
  designPromptTokens: number,
  designTokens: number,
  hintPromptTokens: number,
  hintTokens: number,
  /** Given in an episode: prompt and observations, each once. */
  episodePromptTokens: number,
  /** Read over all turns of an episode, where each turn reads all that stands before it. */
  episodeReadTokens: number,
  /** Sampled in an episode. */
  episodeTokens: number,
  designTokensPerSecond: rate,
  episodeTokensPerSecond: rate,
  trainedTokensPerSecond: rate,
  gateSecondsPerCandidate: number,
  /** Checkpoint, record and all else. */
  otherSecondsPerIteration: number,
  /** Of the record, per token of a trajectory. */
  bytesPerToken: number,
  /** Per million tokens, in any currency; the designer's are the agent's where absent. */
  agentReadPrice: number,
  agentSampledPrice: number,
  designerReadPrice: number,
  designerSampledPrice: number,
  trainedPrice: number,
});

export type Rates = z.output<typeof ratesSchema>;

/** Expected amount, absent where a rate is unknown, and the most that the configuration allows, absent where it sets no limit. */
export interface Amount {
  readonly expected?: number;
  readonly atMost?: number;
}

/** What a run will take. */
export interface Plan {
  readonly iterations: number;
  /** Sets of environments designed. */
  readonly sets: number;
  readonly updates: number;
  readonly optimiserSteps: number;
  readonly samples: Readonly<Record<"candidates" | "admitted" | "hints" | "plain episodes" | "hint episodes" | "evaluation episodes", Amount>>;
  readonly tokens: Readonly<Record<"designer, read" | "designer, sampled" | "agent, read" | "agent, sampled" | "trained", Amount>>;
  /** By stage; `all` is their sum. */
  readonly seconds: Readonly<Record<"design" | "gates" | "play" | "update" | "other" | "all", Amount>>;
  readonly cost: Amount;
  readonly recordBytes: Amount;
  /** Rates that were needed and not known. */
  readonly unknown: readonly string[];
}

type Known = (name: keyof Rates) => number;

/** Programs that a run finds in folders. */
export interface Programs {
  /** In all suites. */
  readonly evaluation: number;
  /** In the folder of a pool. */
  readonly pool?: number;
}

/** Computes a plan. */
export function planRun(config: Config, rates: Rates, programs: Programs): Plan {
  const unknown = new Set<string>();
  /** NaN spreads through all that depends on an unknown rate. */
  const known: Known = (name) => {
    const value = rates[name] ?? defaultOf(name, rates);
    if (value === undefined) unknown.add(name);
    return value ?? NaN;
  };
  const samples = sampleCounts(config, known, programs);
  const { tokens, stored } = tokenCounts(config, known, samples);
  const updates = config.run.iterations * config.update.updatesPerIteration;
  const seconds = times(config, known, samples, tokens);
  const price = (name: keyof Rates, of: Amount): number => ((of.expected ?? NaN) * known(name)) / 1e6;
  const cost = price("designerReadPrice", tokens["designer, read"]) + price("designerSampledPrice", tokens["designer, sampled"]) + price("agentReadPrice", tokens["agent, read"]) + price("agentSampledPrice", tokens["agent, sampled"]) + price("trainedPrice", tokens.trained);
  return {
    iterations: config.run.iterations,
    sets: setCount(config),
    updates,
    optimiserSteps: updates * config.update.optimiser.minibatches,
    samples,
    tokens,
    seconds,
    cost: amount(cost),
    recordBytes: amount(stored * known("bytesPerToken")),
    unknown: [...unknown].sort(),
  };
}

function defaultOf(name: keyof Rates, rates: Rates): number | undefined {
  if (name === "designerReadPrice") return rates.agentReadPrice;
  if (name === "designerSampledPrice") return rates.agentSampledPrice;
  return undefined;
}

function amount(expected: number, atMost?: number): Amount {
  return { ...(Number.isNaN(expected) ? {} : { expected }), ...(atMost === undefined ? {} : { atMost }) };
}

const expectedOf = ({ expected }: Amount): number => expected ?? NaN;
const mostOf = ({ atMost }: Amount): number => atMost ?? NaN;

function setCount({ run, environments, design }: Config): number {
  return environments.kind === "selfplay" ? Math.ceil(run.iterations / design.regenerateEvery) : 0;
}

/** Design tasks of the whole run, those of a designed pool included. */
function taskCount(config: Config, admittedPerTask: number): Amount {
  const { environments, design } = config;
  if (environments.kind === "selfplay") return amount(setCount(config) * design.tasksPerIteration, setCount(config) * design.tasksPerIteration);
  if (environments.kind !== "frozenPool") return amount(0, 0);
  return amount(environments.size / admittedPerTask);
}

function sampleCounts(config: Config, known: Known, programs: Programs): Plan["samples"] {
  const { design, play, environments, run, evaluation } = config;
  const designs = environments.kind === "selfplay" || environments.kind === "frozenPool";
  const rejected = designs ? 1 - known("admittedShare") : NaN;
  const admittedPerTask = 1 - rejected ** design.maxAttempts;
  const tasks = taskCount(config, admittedPerTask);
  const attempts = designs ? Array.from({ length: design.maxAttempts }, (_, i) => rejected ** i).reduce((sum, p) => sum + p, 0) : 0;
  const admitted = designs ? amount(expectedOf(tasks) * admittedPerTask, tasks.atMost) : amount(0, 0);
  const drawn = Math.min(design.tasksPerIteration, environments.kind === "frozenPool" ? environments.size : (programs.pool ?? Infinity));
  const perIteration = environments.kind === "selfplay" ? amount(expectedOf(admitted) / setCount(config) + config.curriculum.replays, design.tasksPerIteration + config.curriculum.replays) : amount(drawn, drawn);
  const plain = run.iterations * play.seedsPerEnvironment * play.playsPerSeed;
  const hintPlays = play.seedsPerEnvironment * play.hintPlaysPerSeed;
  // A pool's environments are new in each iteration that draws them; those of a folder have no hint.
  const hinted = environments.kind === "selfplay" ? admitted : environments.kind === "frozenPool" ? amount(run.iterations * drawn, run.iterations * drawn) : amount(0, 0);
  const evaluated = evaluationCount(config) * programs.evaluation * evaluation.seedsPerProgram * (evaluation.playsPerSeed + Number(evaluation.greedy));
  return {
    candidates: designs ? amount(expectedOf(tasks) * attempts, tasks.atMost === undefined ? undefined : tasks.atMost * design.maxAttempts) : amount(0, 0),
    admitted,
    hints: admitted,
    "plain episodes": amount(expectedOf(perIteration) * plain, mostOf(perIteration) * plain),
    "hint episodes": amount(designs ? expectedOf(hinted) * hintPlays * known("hintShare") : 0, mostOf(hinted) * hintPlays),
    "evaluation episodes": amount(evaluated, evaluated),
  };
}

/** Before, after, and in between when it is due. */
function evaluationCount({ run, evaluation: { everyIterations } }: Config): number {
  if (run.iterations === 0) return 1;
  return 2 + (everyIterations === 0 ? 0 : Math.floor((run.iterations - 1) / everyIterations));
}

function tokenCounts(config: Config, known: Known, samples: Plan["samples"]): { readonly tokens: Plan["tokens"]; readonly stored: number } {
  const { design, play, designer, environments, update } = config;
  const of = (name: keyof Plan["samples"], each: () => number): number => (samples[name].expected === 0 ? 0 : expectedOf(samples[name]) * each());
  const most = (name: keyof Plan["samples"], each: number): number | undefined => (samples[name].atMost === undefined ? undefined : samples[name].atMost * each);
  const episodeNames = ["plain episodes", "hint episodes", "evaluation episodes"] as const;
  const episodes = (each: () => number): number => episodeNames.reduce((sum, name) => sum + of(name, each), 0);
  const perEpisode = Math.min(play.maxTurns * play.sampling.maxTokens, play.contextLength);
  const episodeRow = (): number => known("episodePromptTokens") + known("episodeTokens");
  const designRow = (): number => known("designPromptTokens") + known("designTokens");
  const paid = design.invalidReward === undefined ? "admitted" : "candidates";
  const trainsDesigns = designer.kind === "trained" && environments.kind === "selfplay";
  const agentRows = of("plain episodes", () => known("keptShare") * episodeRow());
  const designRows = trainsDesigns ? of(paid, designRow) : 0;
  const hintRows = of("hints", () => known("hintPromptTokens") + known("hintTokens"));
  const sum = (...parts: readonly (number | undefined)[]): number | undefined => (parts.some((part) => part === undefined) ? undefined : parts.reduce<number>((total, part) => total + (part ?? 0), 0));
  const tokens: Plan["tokens"] = {
    "designer, read": amount(of("candidates", () => known("designPromptTokens")) + of("hints", () => known("hintPromptTokens"))),
    "designer, sampled": amount(of("candidates", () => known("designTokens")) + of("hints", () => known("hintTokens")), sum(most("candidates", design.sampling.maxTokens), most("hints", design.hintSampling.maxTokens))),
    "agent, read": amount(episodes(() => known("episodeReadTokens"))),
    "agent, sampled": amount(episodes(() => known("episodeTokens")), sum(...episodeNames.map((name) => most(name, perEpisode)))),
    trained: amount((agentRows + designRows) * update.updatesPerIteration),
  };
  // Of an evaluation the record holds no tokens.
  const stored = of("candidates", designRow) + hintRows + of("plain episodes", episodeRow) + of("hint episodes", episodeRow);
  return { tokens, stored };
}

function times({ run }: Config, known: Known, samples: Plan["samples"], tokens: Plan["tokens"]): Plan["seconds"] {
  const over = (of: Amount, name: keyof Rates): number => (of.expected === 0 ? 0 : expectedOf(of) / known(name));
  const parts = {
    design: over(tokens["designer, sampled"], "designTokensPerSecond"),
    gates: samples.candidates.expected === 0 ? 0 : expectedOf(samples.candidates) * known("gateSecondsPerCandidate"),
    play: over(tokens["agent, sampled"], "episodeTokensPerSecond"),
    update: over(tokens.trained, "trainedTokensPerSecond"),
    other: run.iterations * known("otherSecondsPerIteration"),
  };
  const all = Object.values(parts).reduce((sum, part) => sum + part, 0);
  return { design: amount(parts.design), gates: amount(parts.gates), play: amount(parts.play), update: amount(parts.update), other: amount(parts.other), all: amount(all) };
}
