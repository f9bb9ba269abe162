import { SpadeError } from "../core/errors.ts";
import type { Config } from "./schema.ts";

/** One contradiction between fields. */
export interface Contradiction {
  readonly path: string;
  readonly message: string;
}

/** Contradictions that no single field shows; empty when the configuration is consistent. */
export function contradictions(config: Config): readonly Contradiction[] {
  return [...designContradictions(config), ...rewardContradictions(config), ...engineContradictions(config), ...corpusContradictions(config)];
}

function corpusContradictions({ corpus: { keep } }: Config): readonly Contradiction[] {
  const limits = [["Words", keep.minWords, keep.maxWords], ["Characters", keep.minCharacters, keep.maxCharacters]] as const;
  return limits.flatMap(([unit, least, most = Infinity]) => (least <= most ? [] : [{ path: `corpus.keep.min${unit}`, message: `is ${least}, above corpus.keep.max${unit} ${most}: no document could be kept` }]));
}

/** What engines lack: a term of the loss, a way to sample during an update, or prices by which a limit could be kept. */
function engineContradictions({ policy, designer, advisor, update: { loss, asynchronous } }: Config): readonly Contradiction[] {
  const endpoints = [["policy", policy], ["designer.policy", designer.kind === "fixed" ? designer.policy : undefined], ["advisor.policy", advisor?.policy]] as const;
  const unpriced = endpoints.flatMap(([path, endpoint]) => (endpoint?.kind === "openai" && endpoint.limit.cost !== undefined && endpoint.prices === undefined ? [{ path: `${path}.limit.cost`, message: `is ${endpoint.limit.cost}, but nothing says what tokens cost: set ${path}.prices` }] : []));
  if (policy.kind !== "tinker") {
    return asynchronous ? [...unpriced, { path: "update.asynchronous", message: `is true, but a policy of kind "${policy.kind}" is not sampled while it is updated (the embedded engine does one thing at a time): set it to false` }] : unpriced;
  }
  const missing = (["klCoefficient", "entropyCoefficient"] as const)
    .filter((name) => loss[name] > 0)
    .map((name) => ({ path: `update.loss.${name}`, message: `is ${loss[name]}, but the losses of Tinker servers have no such term: set it to 0` }));
  return [...unpriced, ...missing];
}

function designContradictions({ policy, designer, design, play, update, curriculum, gates, advisor, environments }: Config): readonly Contradiction[] {
  const found: Contradiction[] = [];
  const unless = (holds: boolean, path: string, message: string): void => {
    if (!holds) found.push({ path, message });
  };
  unless(
    design.activeSkills <= design.skills.length,
    "design.activeSkills",
    `is ${design.activeSkills}, but there are only ${design.skills.length} skills in design.skills`,
  );
  const ahead = Number(update.asynchronous);
  const oldest = (design.regenerateEvery + ahead) * update.updatesPerIteration - 1;
  unless(
    oldest <= update.maxPolicyLag,
    "update.maxPolicyLag",
    `is ${update.maxPolicyLag}, but designer rows grow ${oldest} versions old (${ahead === 0 ? "design.regenerateEvery" : "(design.regenerateEvery + 1, as update.asynchronous is set)"} x update.updatesPerIteration - 1) and would be refused`,
  );
  for (const [path, sampling] of [["design.sampling", design.sampling], ["design.hintSampling", design.hintSampling], ["play.sampling", play.sampling]] as const) {
    // An endpoint's context is its own, where it is known at all.
    const asked = path !== "play.sampling" && designer.kind === "fixed" ? designer.policy : policy;
    const [name, context] = asked.kind === "openai" ? ["the contextLength of its policy,", asked.contextLength ?? Infinity] : ["play.contextLength", play.contextLength];
    unless(sampling.maxTokens < context, `${path}.maxTokens`, `is ${sampling.maxTokens} and leaves no room for a prompt in ${name} ${context}`);
  }
  unless(gates.audit?.enabled !== true || advisor !== undefined, "gates.audit.enabled", "is true, but there is no model to do it: name one in advisor.policy");
  unless(
    gates.grounded?.enabled !== true || (design.documents && environments.kind !== "folder" && environments.kind !== "adaptiveFolder"),
    "gates.grounded.enabled",
    "is true, but programs have no document to be grounded in (design.documents, environments.kind)",
  );
  const [low, high] = curriculum.positiveBand;
  unless(low <= high, "curriculum.positiveBand", `[${low}, ${high}] is empty: the first number must not exceed the second`);
  return found;
}

function rewardContradictions({ designerReward, play, design, environments }: Config): readonly Contradiction[] {
  if (environments.kind !== "selfplay") return [];
  const found: Contradiction[] = [];
  const unless = (holds: boolean, path: string, message: string): void => {
    if (!holds) found.push({ path, message });
  };
  const never = `a designerReward of kind "${designerReward.kind}" could never be measured`;
  const plainEpisodes = play.seedsPerEnvironment * play.playsPerSeed * design.regenerateEvery;
  unless(
    plainEpisodes >= designerReward.minEpisodesPerArm,
    "designerReward.minEpisodesPerArm",
    `is ${designerReward.minEpisodesPerArm}, but an environment gets only ${plainEpisodes} plain episodes: ${never}`,
  );
  if ("low" in designerReward) {
    unless(designerReward.low <= designerReward.high, "designerReward.low", `is ${designerReward.low}, above designerReward.high ${designerReward.high}`);
  }
  if ("regretEstimate" in designerReward) {
    const fewest = play.seedsPerEnvironment * Math.min(play.playsPerSeed, play.hintPlaysPerSeed);
    unless(
      fewest >= designerReward.minEpisodesPerArm,
      "designerReward.minEpisodesPerArm",
      `is ${designerReward.minEpisodesPerArm}, but the smaller arm gets only ${fewest} episodes at generation: ${never}`,
    );
    unless(
      designerReward.regretEstimate === "floored" || play.seedsPerEnvironment >= 2,
      "play.seedsPerEnvironment",
      `is ${play.seedsPerEnvironment}; a paired regret needs at least 2 seeds: ${never}`,
    );
  }
  const withinSeeds = designerReward.kind === "learnability" || ("stratified" in designerReward && designerReward.stratified);
  unless(!withinSeeds || play.playsPerSeed >= 2, "play.playsPerSeed", `is ${play.playsPerSeed}; variance within a seed needs at least 2 plays: ${never}`);
  unless(
    designerReward.kind !== "microProgress" || design.regenerateEvery >= 2,
    "design.regenerateEvery",
    `is ${design.regenerateEvery}; progress needs a window of at least 2 iterations: ${never}`,
  );
  return found;
}

/**
 * Refuses trained roles whose sampling distribution is not the loss's: softmax(logits / temperature) over the whole vocabulary, with
 * a temperature above 0 (invariant 10). Tinker servers know temperature 1 only; what an endpoint samples is not trained on.
 * @throws config.samplingMismatch
 */
export function refuseSamplingMismatch(config: Config): void {
  const [found] = samplingMismatches(config);
  if (config.allowSamplingMismatch || found === undefined) return;
  throw new SpadeError("config.samplingMismatch", `${found} Set topP 1, topK 0 and ${lossTemperature(config)}, or set allowSamplingMismatch to true to accept the bias.`);
}

/** One sentence for each role of the policy in training that is sampled otherwise than its loss assumes; a fixed designer's sampling is free. */
export function samplingMismatches(config: Config): readonly string[] {
  const { policy, designer, design, play } = config;
  if (policy.kind === "openai") return [];
  const roles = [...(designer.kind === "fixed" ? [] : ([["design.sampling", design.sampling]] as const)), ["play.sampling", play.sampling] as const];
  return roles.flatMap(([path, { temperature, topP, topK }]) => {
    const suits = policy.kind === "tinker" ? temperature === 1 : temperature > 0;
    return suits && topP === 1 && topK === 0 ? [] : [`${path} samples at temperature ${temperature}, topP ${topP}, topK ${topK}, but the loss models the whole vocabulary at ${lossTemperature(config)}.`];
  });
}

function lossTemperature({ policy }: Config): string {
  return policy.kind === "tinker" ? "temperature 1" : "a temperature above 0";
}

/** Refuses to train what only samples, before anything is started. @throws config.cannotTrain */
export function refuseTraining(source: string, { policy }: Config): void {
  if (policy.kind !== "openai") return;
  throw new SpadeError(
    "config.cannotTrain",
    `The configuration "${source}" cannot be trained: its policy.kind is "openai", and an endpoint of that kind samples ${policy.model} without taking updates of its weights. ` +
      `To train, set policy.kind to "tinker" (a server on your own GPUs or the hosted service, docs/engines.md) or "embedded". To use the endpoint: spade design, spade rollout, spade evaluate.`,
    { details: { source } },
  );
}
