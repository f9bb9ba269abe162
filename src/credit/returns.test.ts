import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Rng } from "../core/seed.ts";
import { betweenSeedShare, chanceCorrected, collectReturns, learnability, meanReturn, mergeArms, winRate } from "./returns.ts";
import type { ArmReturns, PlayedEpisode } from "./returns.ts";

const arm = (...seeds: readonly (readonly number[])[]): ArmReturns => ({ seeds: seeds.map((returns, seed) => ({ seed, returns })), failed: 0 });
const episode = (seed: number, play: number, outcome: PlayedEpisode["outcome"], side: PlayedEpisode["arm"] = "plain"): PlayedEpisode => ({ arm: side, seed, play, outcome });

describe("collectReturns", () => {
  test("missing is not zero: failed episodes have no return, truncated ones have 0 (invariant 6)", () => {
    const returns = collectReturns([
      episode(1, 0, { kind: "terminated", reward: 7 }),
      episode(1, 1, { kind: "failed", boundary: "sandbox", code: "timeout" }),
      episode(2, 0, { kind: "truncated", reason: "turns" }),
      episode(3, 0, { kind: "failed", boundary: "policy", code: "http" }),
    ]);
    expect(returns.plain).toEqual({ seeds: [{ seed: 1, returns: [1] }, { seed: 2, returns: [0] }], failed: 2 });
    expect(meanReturn(returns.plain)).toBe(0.5);
    expect(meanReturn(returns.hint)).toBeUndefined();
    expect(winRate(returns.hint)).toBeUndefined();
  });

  test("does not depend on the order of the episodes", () => {
    const episodes = [0, 1, 2].flatMap((seed) => [0, 1].map((play) => episode(seed, play, { kind: "terminated", reward: seed - play }, play === 0 ? "plain" : "hint")));
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        expect(collectReturns(new Rng(seed).shuffle(episodes))).toEqual(collectReturns(episodes));
      }),
    );
  });
});

test("mergeArms joins plays seed by seed", () => {
  expect(mergeArms([arm([1], [0]), arm([0, 0]), { seeds: [], failed: 3 }])).toEqual({ seeds: [{ seed: 0, returns: [1, 0, 0] }, { seed: 1, returns: [0] }], failed: 3 });
});

describe("difficulty", () => {
  test("a mixture of trivial and impossible seeds is not learnable, though its win rate is one half", () => {
    const mixture = arm([1, 1, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0]);
    expect(winRate(mixture)).toBe(0.5);
    expect(learnability(mixture)).toBe(0);
    expect(betweenSeedShare(mixture)).toBe(1);
  });

  test("seeds of equal difficulty have all their variance within", () => {
    const even = arm([1, 0, 1, 0], [0, 1, 0, 1]);
    expect(betweenSeedShare(even)).toBe(0);
    expect(learnability(even)).toBeCloseTo((0.25 * 4) / 3, 12);
  });

  test("learnability is unbiased over all outcomes of two plays", () => {
    const p = 0.3;
    const expected = [[1, 1], [1, 0], [0, 1], [0, 0]].reduce((sum, plays) => {
      const probability = plays.reduce((product, win) => product * (win === 1 ? p : 1 - p), 1);
      return sum + probability * (learnability(arm(plays)) ?? Number.NaN);
    }, 0);
    expect(expected).toBeCloseTo(p * (1 - p), 12);
  });

  test("one play per seed says nothing about variance within seeds", () => {
    expect(learnability(arm([1], [0]))).toBeUndefined();
    expect(betweenSeedShare(arm([1], [0]))).toBeUndefined();
  });

  test("chance is the zero of the scale", () => {
    expect(chanceCorrected(0.25, 0.25)).toBe(0);
    expect(chanceCorrected(0.1, 0.25)).toBe(0);
    expect(chanceCorrected(1, 0.25)).toBe(1);
    expect(chanceCorrected(1, 1)).toBe(0);
    expect(learnability(arm([1, 0, 0, 0], [0, 1, 0, 0]), 0.25)).toBeLessThan(0.25 * 0.75);
  });

  test("shares and learnability stay in range", () => {
    const plays = fc.array(fc.constantFrom(0, 1), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(fc.array(plays, { minLength: 1, maxLength: 6 }), fc.double({ min: 0, max: 1, noNaN: true }), (seeds, trivial) => {
        const share = betweenSeedShare(arm(...seeds)) ?? Number.NaN;
        expect(share).toBeGreaterThanOrEqual(0);
        expect(share).toBeLessThanOrEqual(1);
        expect(learnability(arm(...seeds), trivial)).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
