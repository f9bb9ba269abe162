import { SpadeError } from "../core/errors.ts";
import type { Config } from "./schema.ts";

/** One contradiction between fields. */
export interface Contradiction {
  readonly path: string;
  readonly message: string;
}

/** Contradictions that no single field shows; empty when the configuration is consistent. */
export function contradictions(config: Config): readonly Contradiction[] {
  return [...designContradictions(config), ...rewardContradictions(config), ...engineContradictions(config)];
}

/** What engines lack: a term of the loss, or a way to sample during an update. */
function engineContradictions({ policy, update: { loss, asynchronous } }: Config): readonly Contradiction[] {
  if (policy.kind !== "tinker") {
    return asynchronous ? [{ path: "update.asynchronous", message: `is true, but an engine of kind "${policy.kind}" does one thing at a time: set it to false` }] : [];
  }
  return (["klCoefficient", "entropyCoefficient"] as const)
    .filter((name) => loss[name] > 0)
    .map((name) => ({ path: `update.loss.${name}`, message: `is ${loss[name]}, but the losses of Tinker servers have no such term: set it to 0` }));
}

function designContradictions({ design, play, update, curriculum, gates }: Config): readonly Contradiction[] {
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
    unless(
      sampling.maxTokens < play.contextLength,
      `${path}.maxTokens`,
      `is ${sampling.maxTokens} and leaves no room for a prompt in play.contextLength ${play.contextLength}`,
    );
  }
  unless(gates.audit?.enabled !== true, "gates.audit.enabled", "is true, but a run has no auditor yet; the gate serves callers of admit() that bring one");
  const [low, high] = curriculum.positiveBand;
  unless(low <= high, "curriculum.positiveBand", `[${low}, ${high}] is empty: the first number must not exceed the second`);
  return found;
}

function rewardContradictions({ designerReward, play, design, environments }: Config): readonly Contradiction[] {
  if (environments.kind === "frozenPool") return [];
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
 * a temperature above 0 (invariant 10). Tinker servers know temperature 1 only.
 * @throws config.samplingMismatch
 */
export function refuseSamplingMismatch(config: Config): void {
  if (config.allowSamplingMismatch) return;
  for (const [path, sampling] of [["design.sampling", config.design.sampling], ["play.sampling", config.play.sampling]] as const) {
    const fixed = config.policy.kind === "tinker";
    const suits = fixed ? sampling.temperature === 1 : sampling.temperature > 0;
    if (suits && sampling.topP === 1 && sampling.topK === 0) continue;
    throw new SpadeError(
      "config.samplingMismatch",
      `${path} samples at temperature ${sampling.temperature}, topP ${sampling.topP}, topK ${sampling.topK}, but the loss models the whole vocabulary at ${fixed ? "temperature 1" : "a temperature above 0"}. ` +
        `Set topP 1, topK 0 and ${fixed ? "temperature 1" : "a temperature above 0"}, or set allowSamplingMismatch to true to accept the bias.`,
      { details: { path, sampling } },
    );
  }
}
