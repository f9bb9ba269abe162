import { describe, expect, it } from "vitest";
import { diversity, symmetricEigenvalues } from "./diversity.ts";
import { meanEstimate } from "./interval.ts";

describe("diversity", () => {
  it("counts equal texts as one and unrelated texts as many", () => {
    expect(diversity(["tide pool", "tide pool", "tide pool"])?.vendi).toBeCloseTo(1, 6);
    const apart = diversity(["tide pool", "brass gear", "oak leaf"]);
    expect(apart?.vendi).toBeCloseTo(3, 6);
    expect(apart?.meanPairwiseDistance).toBeCloseTo(1, 6);
    expect(diversity([])).toBeUndefined();
  });

  it("finds the eigenvalues of a symmetric matrix", () => {
    const values = symmetricEigenvalues([
      [2, 1, 0],
      [1, 2, 1],
      [0, 1, 2],
    ]).sort((a, b) => a - b);
    expect(values[0]).toBeCloseTo(2 - Math.SQRT2, 9);
    expect(values[1]).toBeCloseTo(2, 9);
    expect(values[2]).toBeCloseTo(2 + Math.SQRT2, 9);
  });
});

describe("intervals", () => {
  it("gives the t interval of a mean", () => {
    const estimate = meanEstimate([1, 2, 3]);
    expect(estimate?.mean).toBe(2);
    expect(estimate?.high).toBeCloseTo(2 + 4.303 / Math.sqrt(3), 3);
    expect(meanEstimate([])).toBeUndefined();
  });
});
