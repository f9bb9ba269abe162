import { describe, expect, test } from "vitest";
import { resolveConfig } from "../config/load.ts";
import { mergeInputs } from "../config/merge.ts";
import type { Config } from "../config/schema.ts";
import { planRun, type Rates } from "./plan.ts";

const base = {
  run: { iterations: 10 },
  policy: { kind: "embedded" },
  design: { tasksPerIteration: 8, maxAttempts: 2, regenerateEvery: 2, activeSkills: 2, sampling: { maxTokens: 100 }, hintSampling: { maxTokens: 10 } },
  play: { seedsPerEnvironment: 2, playsPerSeed: 3, hintPlaysPerSeed: 2, maxTurns: 4, sampling: { maxTokens: 20 }, contextLength: 1000 },
  update: { optimiser: { minibatches: 2 } },
  evaluation: { seedsPerProgram: 3, playsPerSeed: 1, greedy: true, everyIterations: 4 },
};
const config = (changes: object = {}): Config => resolveConfig("test", mergeInputs(base, changes)).config;

/** Round numbers, so that the arithmetic can be followed. */
const rates: Rates = {
  admittedShare: 0.5,
  hintShare: 0.5,
  keptShare: 0.25,
  designPromptTokens: 100,
  designTokens: 50,
  hintPromptTokens: 40,
  hintTokens: 5,
  episodePromptTokens: 30,
  episodeReadTokens: 60,
  episodeTokens: 10,
  designTokensPerSecond: 10,
  episodeTokensPerSecond: 100,
  trainedTokensPerSecond: 20,
  gateSecondsPerCandidate: 2,
  otherSecondsPerIteration: 1,
  bytesPerToken: 10,
  agentReadPrice: 1,
  agentSampledPrice: 10,
  trainedPrice: 100,
};
const plan = (changes: object = {}, given: Rates = rates, pool = 100) => planRun(config(changes), given, { evaluation: 5, pool });

describe("self-play", () => {
  test("samples: 5 sets of 8 tasks, half of the candidates admitted, one retry", () => {
    const { sets, updates, optimiserSteps, samples, unknown } = plan();
    expect([sets, updates, optimiserSteps, unknown]).toEqual([5, 10, 20, []]);
    expect(samples).toEqual({
      candidates: { expected: 60, atMost: 80 },
      admitted: { expected: 30, atMost: 40 },
      hints: { expected: 30, atMost: 40 },
      // 6 environments x 6 plays x 10 iterations; the hint arm once a set, where there is a hint.
      "plain episodes": { expected: 360, atMost: 480 },
      "hint episodes": { expected: 60, atMost: 160 },
      // Before, after, and after iterations 4 and 8: 5 programs, 3 seeds, sampled and greedily.
      "evaluation episodes": { expected: 120, atMost: 120 },
    });
  });

  test("tokens, time, cost and record follow from the samples", () => {
    const { tokens, seconds, cost, recordBytes } = plan();
    const episodes = 360 + 60 + 120;
    const trained = 360 * 0.25 * 40 + 30 * 150;
    expect(tokens).toEqual({
      "designer, read": { expected: 60 * 100 + 30 * 40 },
      "designer, sampled": { expected: 60 * 50 + 30 * 5, atMost: 80 * 100 + 40 * 10 },
      "agent, read": { expected: episodes * 60 },
      "agent, sampled": { expected: episodes * 10, atMost: (480 + 160 + 120) * 80 },
      trained: { expected: trained },
    });
    expect(seconds).toMatchObject({ design: { expected: 315 }, gates: { expected: 120 }, play: { expected: 54 }, update: { expected: trained / 20 }, other: { expected: 10 } });
    expect(seconds.all.expected).toBeCloseTo(315 + 120 + 54 + trained / 20 + 10);
    expect(cost.expected).toBeCloseTo((7200 + 3150 * 10 + episodes * 60 + episodes * 10 * 10 + trained * 100) / 1e6);
    expect(recordBytes.expected).toBe((60 * 150 + 30 * 45 + 420 * 40) * 10);
  });

  test("designs are not trained on where the designer is not, and rejected ones are where they are paid", () => {
    const agents = 360 * 0.25 * 40;
    expect(plan({ designer: { kind: "untrained" } }).tokens.trained.expected).toBe(agents);
    expect(plan({ design: { invalidReward: -0.1 } }).tokens.trained.expected).toBe(agents + 60 * 150);
  });
});

test("a folder needs no designer's rates and costs no design", () => {
  const { admittedShare, hintShare, designTokens, designPromptTokens, designTokensPerSecond, gateSecondsPerCandidate, hintTokens, hintPromptTokens, ...agents } = rates;
  expect([admittedShare, hintShare, designTokens, designPromptTokens, designTokensPerSecond, gateSecondsPerCandidate, hintTokens, hintPromptTokens]).not.toContain(undefined);
  const { samples, seconds, unknown } = plan({ environments: { kind: "folder", path: "pool" } }, agents);
  expect(unknown).toEqual([]);
  expect(samples).toMatchObject({ candidates: { expected: 0 }, "plain episodes": { expected: 480 }, "hint episodes": { expected: 0 } });
  expect(seconds.all.expected).toBeGreaterThan(0);
  const { samples: few } = plan({ environments: { kind: "folder", path: "pool" } }, agents, 3);
  expect(few["plain episodes"].expected, "a folder of fewer programs than are drawn").toBe(180);
});

test("a pool that is designed first: as many candidates as it takes", () => {
  const { samples } = plan({ environments: { kind: "frozenPool", size: 30 } });
  expect(samples.candidates.expected).toBe(60);
  expect(samples["plain episodes"].expected).toBe(480);
});

test("without rates the counts that need none are there, the rest is absent, and what is missing is named", () => {
  const { samples, tokens, seconds, cost, unknown } = plan({}, {});
  expect(samples.candidates).toEqual({ atMost: 80 });
  expect(samples["evaluation episodes"].expected).toBe(120);
  expect([tokens["agent, read"], seconds.all, cost]).toEqual([{}, {}, {}]);
  expect(unknown).toEqual(expect.arrayContaining(["admittedShare", "episodeTokens", "trainedPrice"]));
  const { seconds: partly } = plan({}, { ...rates, otherSecondsPerIteration: undefined } as unknown as Rates);
  expect(partly).toMatchObject({ gates: { expected: 120 }, other: {}, all: {} });
  expect(partly.all.expected).toBeUndefined();
});
