import { expect, test } from "vitest";
import { nullBench } from "../bench/null.ts";

test("a hint of no effect earns nothing under the paired estimate, and a lot under the floored one", () => {
  const results = nullBench({ environments: 24, seedsPerEnvironment: 4, playsPerSeed: 2, replications: 150, seed: 1 });
  const of = (estimate: string) => results.find((result) => result.estimate === estimate)!;
  expect(Math.abs(of("paired").mean)).toBeLessThan(2.6 * of("paired").standardError);
  expect(of("paired").coverage).toBeGreaterThan(0.88);
  expect(of("lowerBound").mean).toBeLessThan(0.02);
  expect(of("floored").mean).toBeGreaterThan(0.25);
  expect(of("floored").coverage).toBeLessThan(0.1);
});
