import { toolUseSkills } from "../core/role.ts";
import { over, ablations, poolBaselines } from "./preset-variants.ts";
import type { PresetInput } from "./schema.ts";

/** Sampling of both roles in the paper's recipe; its loss models neither the temperature nor the truncation. */
const truncated = { temperature: 0.6, topP: 0.95, topK: 20 };

const loraNote = "The paper's code trains all weights at learning rate 1e-6. A Tinker server trains a LoRA adapter, for which that rate may be too small.";
const klNote = "The paper adds a KL term to the reference of 0.005 here. Tinker servers have no such term: this preset trains without.";
const toolsNote = "The designer's prompts ask for text games; there are none for tool-use programs yet. Designs for these skills will be games.";

/**
 * The paper's recipe in the games setting. The numbers are the paper's (arXiv 2608.19197), or where it is silent those of the released
 * commands: sampling truncation, hint temperature, examples. The gates are ours, but for novelty, which the paper has none of.
 */
const games: PresetInput = {
  run: { iterations: 400 },
  policy: { kind: "tinker" },
  prompts: "full",
  corpus: { maxWords: 6000 },
  design: {
    activeSkills: 3,
    tasksPerIteration: 24,
    maxAttempts: 5,
    sampling: { ...truncated, maxTokens: 16_384 },
    hintSampling: { ...truncated, temperature: 0.3, maxTokens: 4096 },
    exampleMaxChars: 2000,
    positives: 2,
    negatives: 1,
    regenerateEvery: 4,
  },
  play: { seedsPerEnvironment: 16, playsPerSeed: 1, hintPlaysPerSeed: 1, maxTurns: 25, sampling: { ...truncated, maxTokens: 8192 }, contextLength: 32_768 },
  sandbox: { lanes: 8 },
  gates: { novelty: { enabled: false } },
  designerReward: { kind: "blend", plateauWeight: 0.6, regretWeight: 0.4, regretScale: 0.15, low: 0.4, high: 0.6, ramp: 0.25, regretEstimate: "floored", stratified: false, chanceCorrected: false, timeoutReward: -0.5 },
  update: {
    loss: { kind: "policyGradient", clipLow: 0.2, clipHigh: 0.28, klCoefficient: 0, entropyCoefficient: 0 },
    /** 24 x 16 agent rows in steps of 192. */
    optimiser: { learningRate: 1e-6, beta1: 0.9, beta2: 0.98, weightDecay: 0.1, minibatches: 2 },
    designerWeightCap: 50,
    maxPolicyLag: 3,
  },
  curriculum: { memorySize: 200, positiveBand: [0.15, 0.85], tooEasy: 0.9, tooHard: 0.1 },
  allowSamplingMismatch: true,
  notes: [loraNote],
};

const toolUse = over(games, {
  corpus: { maxWords: 4000 },
  design: { skills: [...toolUseSkills], activeSkills: toolUseSkills.length, hintSampling: { maxTokens: 2048 }, regenerateEvery: 8 },
  update: { maxPolicyLag: 7 },
  notes: [loraNote, klNote, toolsNote],
});

const size4b: PresetInput = { policy: { kind: "tinker", model: "Qwen/Qwen3-4B-Instruct-2507" } };
/** Thinks before it answers, so its designs are longer. */
const size8b: PresetInput = { policy: { kind: "tinker", model: "Qwen/Qwen3-8B" }, design: { sampling: { maxTokens: 20_000 } } };
const size30b: PresetInput = { policy: { kind: "tinker", model: "Qwen/Qwen3-30B-A3B-Instruct-2507" } };

const games4b = over(games, size4b);
const games8b = over(games, over(size8b, { notes: [loraNote, klNote] }));
const games30b = over(games, size30b);

/** RLVE's own batch: 16 problems, 16 plays of each, at the loss's temperature. */
const rlve: PresetInput = {
  design: { tasksPerIteration: 16, regenerateEvery: 1 },
  play: { seedsPerEnvironment: 1, playsPerSeed: 16, sampling: { temperature: 1, topP: 1, topK: 0 } },
  update: { optimiser: { minibatches: 1 } },
};

/** The folder is the user's. */
const baselines = { static: {}, adaptive: rlve };

/** The paper's recipes, its ablations and its fixed-pool baselines. The server, its tokenizer and folders are the user's to name. */
export const paperPresets: Readonly<Record<string, PresetInput>> = {
  "paper-games-4b": games4b,
  "paper-games-8b": games8b,
  "paper-games-30b": games30b,
  "paper-tool-use-4b": over(toolUse, size4b),
  "paper-tool-use-8b": over(toolUse, size8b),
  "paper-tool-use-30b": over(toolUse, size30b),
  ...ablations("paper-games-30b", games30b, { learningPotential: { fastRate: 0.98, slowRate: 0.85 } }),
  ...poolBaselines("paper-games-4b", games4b, baselines),
  ...poolBaselines("paper-games-8b", games8b, baselines),
  ...poolBaselines("paper-games-30b", games30b, baselines),
};
