import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { SpadeError } from "../core/errors.ts";
import { loadConfig, resolveConfig } from "./load.ts";
import { presets } from "./presets.ts";

const directory = mkdtempSync(join(tmpdir(), "spade-config-"));
afterAll(() => rmSync(directory, { recursive: true }));

function file(name: string, content: string): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

function failure(action: () => unknown): SpadeError {
  try {
    action();
  } catch (error) {
    if (error instanceof SpadeError) return error;
    throw error;
  }
  throw new Error("expected a SpadeError");
}

describe("presets", () => {
  test.each(Object.keys(presets).filter((name) => !name.startsWith("paper-")))("%s resolves", (name) => {
    expect(loadConfig(name).config.run.iterations).toBeGreaterThan(0);
  });

  test("the frozen pool differs from nano only in its environments and in how many of them an iteration plays", () => {
    const { environments, design, ...rest } = loadConfig("nano-frozen-pool").config;
    expect(environments.kind).toBe("frozenPool");
    const nano = loadConfig("nano").config;
    expect({ ...rest, environments: { kind: "selfplay" }, design: { ...design, tasksPerIteration: nano.design.tasksPerIteration } }).toEqual(nano);
  });

  test("an unknown one lists the known ones", () => {
    for (const name of ["quikstart", "toString", "__proto__"]) {
      const error = failure(() => loadConfig(name));
      expect(error.code).toBe("config.unknownPreset");
      expect(error.message).toContain("quickstart, nano");
    }
  });
});

describe("the resolved configuration", () => {
  test("is deeply frozen", () => {
    const { config } = loadConfig("smoke");
    expect(() => Object.assign(config.update.optimiser, { learningRate: 1 })).toThrow(TypeError);
    expect(() => Object.assign(config.curriculum.positiveBand, { 0: 1 })).toThrow(TypeError);
  });

  test("has a digest of its values, whatever way they were stated", () => {
    const path = file("same.json", JSON.stringify({ run: { seed: 7 }, extends: "smoke" }));
    expect(loadConfig(path).digest).toBe(loadConfig("smoke", { run: { seed: 7 } }).digest);
    expect(loadConfig("smoke", { run: { seed: 7 } }).digest).not.toBe(loadConfig("smoke").digest);
  });

  test("loading one does not change the presets", () => {
    const before = loadConfig("smoke").digest;
    loadConfig("smoke", { play: { maxTurns: 3 } });
    expect(loadConfig("smoke").digest).toBe(before);
  });

  test("a variant of another kind replaces the preset's", () => {
    const path = file("reward.json", JSON.stringify({ extends: "quickstart", designerReward: { kind: "blend", plateauWeight: 0.5 } }));
    const { config } = loadConfig(path, { designerReward: { kind: "learnability" } });
    expect(config.designerReward).toEqual({ kind: "learnability", chanceCorrected: true, minEpisodesPerArm: 4, timeoutReward: -0.5 });
  });
});

describe("errors", () => {
  const cases: readonly (readonly [string, unknown, string, string])[] = [
    ["a misspelt key", { play: { seedPerEnvironment: 3 } }, "config.unknownKey", 'Unknown key "play.seedPerEnvironment" in configuration "smoke". Did you mean "play.seedsPerEnvironment"?'],
    ["a misspelt section", { plays: {} }, "config.unknownKey", 'Did you mean "play"?'],
    ["a key of another variant", { designerReward: { kind: "regret", plateauWeight: 1 } }, "config.unknownKey", '"designerReward.plateauWeight"'],
    ["a key like nothing known", { update: { quux: 1 } }, "config.unknownKey", "Known here: loss, optimiser"],
    ["a misspelt key in a list", { corpus: { sources: [{ path: "a", samples: 3 }] } }, "config.unknownKey", 'Did you mean "corpus.sources.0.sample"?'],
    ["lengths that no document has", { corpus: { keep: { minWords: 5, maxWords: 4 } } }, "config.invalid", "corpus.keep.minWords is 5, above corpus.keep.maxWords 4"],
    ["a wrong type", { run: { iterations: "ten" } }, "config.invalid", "run.iterations is wrong"],
    ["an unknown kind", { designerReward: { kind: "novelty" } }, "config.invalid", "designerReward.kind"],
    ["one checkpoint", { storage: { keepCheckpoints: 1 } }, "config.invalid", "storage.keepCheckpoints"],
    ["more active skills than skills", { design: { activeSkills: 9 } }, "config.invalid", "there are only 6 skills"],
    ["a regret that can never be measured", { play: { seedsPerEnvironment: 1, playsPerSeed: 4, hintPlaysPerSeed: 4 } }, "config.invalid", "needs at least 2 seeds"],
    ["too few episodes for the reward", { play: { hintPlaysPerSeed: 0 } }, "config.invalid", "smaller arm gets only 0"],
    ["sampling ahead with an engine that does one thing at a time", { update: { asynchronous: true } }, "config.invalid", "one thing at a time"],
    ["a delay that outlives the policy lag", { design: { regenerateEvery: 4 } }, "config.invalid", "grow 3 versions old"],
    ["an audit without an auditor", { gates: { audit: { enabled: true } } }, "config.invalid", "gates.audit.enabled is true, but there is no model to do it"],
    ["a price limit without prices", { policy: { kind: "openai", baseUrl: "http://localhost/v1", model: "m", limit: { cost: 1 } } }, "config.invalid", "policy.limit.cost is 1, but nothing says what tokens cost"],
    ["a key in the configuration", { policy: { kind: "openai", baseUrl: "http://localhost/v1", model: "m", apiKeyEnv: "sk-1234" } }, "config.invalid", "never the key itself"],
    ["a prompt without room", { design: { sampling: { maxTokens: 1024 } } }, "config.invalid", "design.sampling.maxTokens"],
    ["a sampled distribution that the loss does not model", { play: { sampling: { temperature: 0 } } }, "config.samplingMismatch", "play.sampling samples at temperature 0"],
    ["truncated sampling", { design: { sampling: { topK: 20 } } }, "config.samplingMismatch", "allowSamplingMismatch"],
    ["not an object", 3, "config.invalid", "the configuration is wrong"],
  ];

  test.each(cases)("%s", (_name, overrides, code, text) => {
    const error = failure(() => loadConfig("smoke", overrides));
    expect(error.code).toBe(code);
    expect(error.message).toContain(text);
  });

  test("hints may be sampled in any way, since they are not trained on", () => {
    expect(loadConfig("smoke", { design: { hintSampling: { temperature: 0 } } }).config.design.hintSampling.temperature).toBe(0);
  });

  test("files: missing, not JSON, not an object, extending the unknown", () => {
    expect(failure(() => loadConfig(join(directory, "none.json"))).message).toContain("Cannot read configuration file");
    expect(failure(() => loadConfig(file("bad.json", "{"))).code).toBe("config.file");
    expect(failure(() => loadConfig(file("list.json", "[1]"))).code).toBe("config.file");
    expect(failure(() => loadConfig(file("extends.json", '{"extends":"x"}'))).code).toBe("config.unknownPreset");
  });
});

test("the paper's numbers are representable (algorithm, section 4)", () => {
  const sampling = { temperature: 0.6, topP: 0.95, topK: 20 };
  const { config } = resolveConfig("paper", {
    allowSamplingMismatch: true,
    run: { iterations: 400 },
    corpus: { maxWords: 6000 },
    design: {
      activeSkills: 3,
      tasksPerIteration: 24,
      maxAttempts: 5,
      regenerateEvery: 4,
      sampling: { ...sampling, maxTokens: 16_384 },
      hintSampling: { ...sampling, maxTokens: 4_096 },
    },
    play: { seedsPerEnvironment: 16, playsPerSeed: 1, hintPlaysPerSeed: 1, maxTurns: 25, contextLength: 32_768, sampling: { ...sampling, maxTokens: 8_192 } },
    designerReward: { kind: "blend", regretEstimate: "floored", chanceCorrected: false, stratified: false, minEpisodesPerArm: 16 },
    update: {
      loss: { kind: "policyGradient", klCoefficient: 0.005 },
      optimiser: { learningRate: 1e-6, beta1: 0.9, beta2: 0.98, weightDecay: 0.1, minibatches: 2 },
      maxPolicyLag: 3,
    },
    curriculum: { memorySize: 200 },
  });
  expect(config.update.loss).toMatchObject({ clipLow: 0.2, clipHigh: 0.28, entropyCoefficient: 0 });
  expect(config.designerReward).toMatchObject({ plateauWeight: 0.6, regretWeight: 0.4, low: 0.4, high: 0.6, ramp: 0.25, regretScale: 0.15 });
  expect(config.update.designerWeightCap).toBe(50);
  expect(config.curriculum).toMatchObject({ positiveBand: [0.15, 0.85], tooEasy: 0.9, tooHard: 0.1 });
});
