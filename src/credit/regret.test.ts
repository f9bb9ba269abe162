import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { flooredRegret, pairedRegret } from "./regret.ts";
import type { ArmReturns } from "./returns.ts";
import { studentQuantile } from "./statistics.ts";

const options = { minEpisodesPerArm: 4, confidence: 0.95 };
const arm = (seeds: Readonly<Record<number, readonly number[]>>): ArmReturns => ({
  seeds: Object.entries(seeds).map(([seed, returns]) => ({ seed: Number(seed), returns })),
  failed: 0,
});

test("Student quantiles equal the printed tables", () => {
  expect(studentQuantile(0.95, 1)).toBeCloseTo(12.706, 3);
  expect(studentQuantile(0.95, 2)).toBeCloseTo(4.303, 3);
  expect(studentQuantile(0.95, 3)).toBeCloseTo(3.182, 3);
  expect(studentQuantile(0.9, 7)).toBeCloseTo(1.895, 3);
  expect(studentQuantile(0.99, 10)).toBeCloseTo(3.169, 3);
  expect(studentQuantile(0.95, 1000)).toBeCloseTo(1.962, 3);
});

describe("pairedRegret", () => {
  test("is the mean per-seed difference with its interval", () => {
    const estimate = pairedRegret({ plain: arm({ 1: [0, 0], 2: [0, 1], 3: [1, 1] }), hint: arm({ 1: [1, 1], 2: [1, 0], 3: [1, 0] }) }, options);
    expect(estimate?.mean).toBeCloseTo((1 + 0 - 0.5) / 3, 12);
    expect(estimate?.pairs).toBe(3);
    expect(estimate?.standardError).toBeCloseTo(0.440959, 5);
    expect(estimate?.interval[0]).toBeCloseTo(1 / 6 - 4.302653 * 0.440959, 4);
  });

  test("is absent, not 0, below the minimum or without two pairs", () => {
    const hint = arm({ 1: [1], 2: [1], 3: [1] });
    expect(pairedRegret({ plain: arm({ 1: [0], 2: [0], 3: [0] }), hint }, options)).toBeUndefined();
    expect(pairedRegret({ plain: arm({ 1: [0, 0, 0, 0] }), hint: arm({ 1: [1, 1, 1, 1] }) }, options)).toBeUndefined();
    expect(pairedRegret({ plain: arm({ 1: [0, 0], 2: [0, 0] }), hint: arm({}) }, options)).toBeUndefined();
  });

  test("ignores seeds that one arm did not complete", () => {
    const hint = arm({ 1: [1, 1], 2: [1, 1], 9: [0, 0] });
    const paired = pairedRegret({ plain: arm({ 1: [0, 0], 2: [0, 0], 8: [1, 1] }), hint }, options);
    expect(paired).toMatchObject({ mean: 1, pairs: 2 });
  });

  test("an extra constant difficulty of the seeds cancels", () => {
    const seeds = fc.array(fc.tuple(fc.constantFrom(0, 0.5), fc.constantFrom(0, 0.5)), { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(seeds, fc.constantFrom(0.25, 0.5), (pairs, shift) => {
        const build = (offset: number) => ({
          plain: arm(Object.fromEntries(pairs.map(([plain], i) => [i, [plain + offset, plain + offset]]))),
          hint: arm(Object.fromEntries(pairs.map(([, hint], i) => [i, [hint + offset, hint + offset]]))),
        });
        expect(pairedRegret(build(shift), options)?.mean).toBeCloseTo(pairedRegret(build(0), options)?.mean ?? Number.NaN, 12);
      }),
    );
  });
});

test("flooredRegret pools the arms and never falls below 0", () => {
  const low = arm({ 1: [0, 0], 2: [0, 1] });
  const high = arm({ 1: [1, 1], 2: [0, 1] });
  expect(flooredRegret({ plain: low, hint: high }, 4)).toBe(0.5);
  expect(flooredRegret({ plain: high, hint: low }, 4)).toBe(0);
  expect(flooredRegret({ plain: high, hint: low }, 5)).toBeUndefined();
});
