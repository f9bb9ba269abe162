import { describe, expect, test } from "vitest";
import type { ArmReturns } from "./returns.ts";
import { designerReward, plateau } from "./reward.ts";
import type { DesignerReward, EnvironmentStatistics } from "./reward.ts";

const shared = { minEpisodesPerArm: 4, timeoutReward: -0.5 };
const regretTerm = { regretEstimate: "paired", confidence: 0.95 } as const;
const plateauTerm = { low: 0.4, high: 0.6, ramp: 0.25, chanceCorrected: false, stratified: false } as const;
const blend = { kind: "blend", ...shared, ...regretTerm, ...plateauTerm, plateauWeight: 0.6, regretWeight: 0.4, regretScale: 0.15 } as const;

const arm = (...seeds: readonly (readonly number[])[]): ArmReturns => ({ seeds: seeds.map((returns, seed) => ({ seed, returns })), failed: 0 });
const none: ArmReturns = { seeds: [], failed: 0 };

function statistics(plain: ArmReturns, hint: ArmReturns, more: Partial<EnvironmentStatistics> = {}): EnvironmentStatistics {
  return { generation: { plain, hint }, window: [plain], trivialWinRate: 0, timedOut: false, ...more };
}

const even = arm([1, 0], [0, 1]);
const won = arm([1, 1], [1, 1]);
const lost = arm([0, 0], [0, 0]);

test("plateau is flat inside and linear outside", () => {
  const rates = [0.1, 0.15, 0.275, 0.4, 0.5, 0.6, 0.725, 0.85, 1];
  [0, 0, 0.5, 1, 1, 1, 0.5, 0, 0].forEach((value, i) => expect(plateau(rates[i]!, plateauTerm)).toBeCloseTo(value, 12));
  expect(plateau(0.39, { ...plateauTerm, ramp: 0 })).toBe(0);
});

describe("blend", () => {
  test("pays 1 for an even win rate and a full regret", () => {
    expect(designerReward(statistics(even, won), blend)).toEqual({ reward: 1, components: { plateau: 1, regret: 1 } });
  });

  test("a hint that hurts costs under the paired estimate and pays nothing under the floored one", () => {
    expect(designerReward(statistics(even, lost), blend)?.components["regret"]).toBe(-1);
    expect(designerReward(statistics(even, lost), { ...blend, regretEstimate: "floored" })?.components["regret"]).toBe(0);
    expect(designerReward(statistics(even, lost), { ...blend, regretEstimate: "lowerBound" })?.components["regret"]).toBe(0);
  });

  test("is absent when an arm is", () => {
    expect(designerReward(statistics(even, none), blend)).toBeUndefined();
    expect(designerReward(statistics(none, won), blend)).toBeUndefined();
  });

  test("the win rate is that of the window, the regret that of generation", () => {
    const window = [lost, won];
    expect(designerReward(statistics(lost, won, { window }), blend)?.reward).toBe(1);
    expect(designerReward(statistics(lost, won), blend)?.components).toEqual({ plateau: 0, regret: 1 });
  });

  test("a mixture of trivial and impossible seeds earns nothing when stratified", () => {
    const mixture = arm([1, 1], [0, 0], [1, 1], [0, 0]);
    expect(designerReward(statistics(mixture, mixture), blend)?.components["plateau"]).toBe(1);
    expect(designerReward(statistics(mixture, mixture), { ...blend, stratified: true })?.components["plateau"]).toBe(0);
  });

  test("guessing is worth nothing when corrected for chance", () => {
    const guessable = statistics(even, even, { trivialWinRate: 0.5 });
    expect(designerReward(guessable, blend)?.components["plateau"]).toBe(1);
    expect(designerReward(guessable, { ...blend, chanceCorrected: true })?.components["plateau"]).toBe(0);
  });
});

test("a time-out pays its penalty whatever the arms say", () => {
  const kinds: readonly DesignerReward[] = [blend, { kind: "learnability", ...shared, chanceCorrected: true }];
  for (const spec of kinds) {
    for (const plain of [even, none]) expect(designerReward(statistics(plain, won, { timedOut: true }), spec)?.reward).toBe(-0.5);
  }
});

describe("other kinds", () => {
  const reward = (spec: DesignerReward, more: Partial<EnvironmentStatistics> = {}) => designerReward(statistics(even, won, more), spec)?.reward;

  test("regret", () => {
    expect(reward({ kind: "regret", ...shared, ...regretTerm })).toBe(0.5);
    expect(designerReward(statistics(won, even), { kind: "regret", ...shared, ...regretTerm })?.reward).toBe(-0.5);
    expect(designerReward(statistics(won, even), { kind: "regret", ...shared, ...regretTerm, regretEstimate: "floored" })?.reward).toBe(0);
  });

  test("plateau and solveRate", () => {
    for (const kind of ["plateau", "solveRate"] as const) expect(reward({ kind, ...shared, ...plateauTerm })).toBe(1);
  });

  test("learningPotential needs the skill's slow average", () => {
    const spec = { kind: "learningPotential", ...shared, fastRate: 0.3, slowRate: 0.05 } as const;
    expect(reward(spec)).toBeUndefined();
    expect(reward(spec, { slowAverage: 0.9 })).toBeCloseTo(0.4, 12);
  });

  test("microProgress is the change over the window and is absent at a single point", () => {
    const window = [lost, even, won];
    expect(reward({ kind: "microProgress", ...shared, method: "slope" }, { window })).toBeCloseTo(0.5, 12);
    expect(reward({ kind: "microProgress", ...shared, method: "halves" }, { window })).toBe(1);
    expect(reward({ kind: "microProgress", ...shared, method: "slope" })).toBeUndefined();
  });

  test("frontier peaks at its centre", () => {
    const spec = { kind: "frontier", ...shared, centre: 0.5, scale: 0.08, chanceCorrected: false } as const;
    expect(reward(spec)).toBeCloseTo(0, 12);
    expect(reward(spec, { window: [won] })).toBeCloseTo(-3.125, 12);
  });

  test("learnability", () => {
    expect(reward({ kind: "learnability", ...shared, chanceCorrected: false })).toBe(0.5);
  });
});
