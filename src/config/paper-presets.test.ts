import { describe, expect, test } from "vitest";
import { SpadeError } from "../core/errors.ts";
import { loadConfig } from "./load.ts";
import type { Config } from "./schema.ts";

const server = { policy: { baseUrl: "http://127.0.0.1:8000", tokenizer: "models/nano", profile: "skyrl-jax" } };
const load = (name: string): Config => loadConfig(name, server).config;

/** The paper's numbers (algorithm, sections 3 to 5), written down here. */
const common = {
  run: { iterations: 400 },
  design: { tasksPerIteration: 24, maxAttempts: 5, sampling: { temperature: 0.6, topP: 0.95, topK: 20 } },
  play: { maxTurns: 25, contextLength: 32768, sampling: { temperature: 0.6, topP: 0.95, topK: 20, maxTokens: 8192 } },
  update: { loss: { clipLow: 0.2, clipHigh: 0.28, entropyCoefficient: 0 }, optimiser: { learningRate: 1e-6, beta1: 0.9, beta2: 0.98, weightDecay: 0.1 }, designerWeightCap: 50 },
  designerReward: { kind: "blend", plateauWeight: 0.6, regretWeight: 0.4, low: 0.4, high: 0.6, ramp: 0.25, regretScale: 0.15, timeoutReward: -0.5, chanceCorrected: false },
  curriculum: { memorySize: 200, positiveBand: [0.15, 0.85], tooEasy: 0.9, tooHard: 0.1 },
};
const games = { design: { activeSkills: 3, regenerateEvery: 4, hintSampling: { maxTokens: 4096 } }, corpus: { maxWords: 6000 } };
const toolUse = { design: { regenerateEvery: 8, hintSampling: { maxTokens: 2048 } }, corpus: { maxWords: 4000 } };

describe.each(["4b", "8b", "30b"])("at %s", (size) => {
  const model = { "4b": "Qwen3-4B-Instruct-2507", "8b": "Qwen3-8B", "30b": "Qwen3-30B-A3B-Instruct-2507" }[size];
  const designTokens = size === "8b" ? 20000 : 16384;

  test.each([
    ["games", games, ["Mathematical Reasoning", "Logical Deduction", "Spatial Reasoning", "Pattern Recognition", "Optimization", "Causal Inference"]],
    ["tool-use", toolUse, ["API Orchestration", "Data Retrieval", "State Modification", "Error Recovery", "Tool Selection", "Multi-Step Workflows"]],
  ] as const)("the %s preset has the paper's values", (setting, own, skills) => {
    const config = load(`paper-${setting}-${size}`);
    expect(config).toMatchObject(common);
    expect(config).toMatchObject(own);
    expect(config.design.skills).toEqual(skills);
    expect(config.design.sampling.maxTokens).toBe(designTokens);
    expect(config.policy).toMatchObject({ kind: "tinker", model: `Qwen/${model ?? ""}` });
    const { seedsPerEnvironment, playsPerSeed, hintPlaysPerSeed } = config.play;
    expect([seedsPerEnvironment * playsPerSeed, seedsPerEnvironment * hintPlaysPerSeed]).toEqual([16, 16]);
    expect((24 * 16) / config.update.optimiser.minibatches).toBe(192);
    expect(config.update.maxPolicyLag).toBe(config.design.regenerateEvery - 1);
  });

  test.each(["games", "tool-use"])("the %s preset says where it departs: sampling, adapter, and KL where the paper has it", (setting) => {
    const { allowSamplingMismatch, notes, update } = load(`paper-${setting}-${size}`);
    expect(allowSamplingMismatch).toBe(true);
    expect(update.loss.klCoefficient).toBe(0);
    expect(notes.join()).toContain("LoRA");
    expect(notes.some((note) => note.includes("KL term to the reference of 0.005"))).toBe(setting === "tool-use" || size === "8b");
  });
});

test("RLVE's baseline: accuracy 0.9, 8 attempts, width 4", () => {
  const { config } = loadConfig("paper-games-30b-adaptive-pool", { ...server, environments: { path: "pool" } });
  expect(config.environments).toEqual({ kind: "adaptiveFolder", path: "pool", accuracy: 0.9, attempts: 8, width: 4 });
});

test.each([
  ["paper-games-4b", {}, ["policy.baseUrl is missing: where the server is, for example --set policy.baseUrl=", "policy.tokenizer is missing", "policy.profile is missing"]],
  ["paper-games-4b-static-pool", server, ["environments.path is missing: a folder of programs"]],
  ["paper-games-30b-fixed-designer", server, ["designer.policy is missing: any policy configuration"]],
])("%s tells what its user has to name", (name, given, says) => {
  let message = "";
  try {
    loadConfig(name, given);
  } catch (error) {
    if (error instanceof SpadeError) message = error.message;
  }
  for (const part of says) expect(message).toContain(part);
});

test("only a fixed designer samples as it likes: the others share the policy that the loss models", () => {
  const truncated = { design: { sampling: { topP: 0.9 } } };
  expect(loadConfig("nano-fixed-designer", truncated).config.design.sampling.topP).toBe(0.9);
  for (const name of ["nano", "nano-frozen-designer"]) expect(() => loadConfig(name, truncated), name).toThrow("design.sampling samples at temperature");
});
