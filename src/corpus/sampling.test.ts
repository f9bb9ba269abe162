import fc from "fast-check";
import { expect, test } from "vitest";
import { epochPositions, lowestPriority, maxRows, rowPriority } from "./sampling.ts";

test("priorities are a seeded permutation of the row numbers", () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(9), fc.uniqueArray(fc.integer({ min: 0, max: maxRows - 1 }), { maxLength: 50 }), (seed, source, rows) => {
      const priority = rowPriority(seed, source);
      const priorities = rows.map(priority);
      expect(new Set(priorities).size).toBe(rows.length);
      expect(priorities.every((value) => Number.isInteger(value) && value >= 0 && value < maxRows)).toBe(true);
      expect(rows.map(rowPriority(seed, source))).toEqual(priorities);
    }),
  );
  const order = (seed: number, source: number) => Array.from({ length: 20 }, (_, row) => rowPriority(seed, source)(row));
  expect(order(1, 0)).not.toEqual(order(2, 0));
  expect(order(1, 0)).not.toEqual(order(1, 1));
});

test("the rows of lowest priority are a uniform sample", () => {
  const taken = new Uint32Array(40);
  for (let seed = 0; seed < 2000; seed++) {
    const priority = rowPriority(seed, 0);
    const most = lowestPriority(40, priority, { count: 10, above: -1 });
    for (let row = 0; row < 40; row++) if (priority(row) <= most) taken[row]! += 1;
  }
  expect(taken.reduce((sum, n) => sum + n)).toBe(20_000);
  // 2000 lots of a quarter: 500 expected, standard deviation 19.4.
  expect(Math.min(...taken)).toBeGreaterThan(500 - 4.5 * 19.4);
  expect(Math.max(...taken)).toBeLessThan(500 + 4.5 * 19.4);
});

test("the lowest priorities are found as sorting finds them", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(10_000), { maxLength: 60 }), fc.integer({ min: 1, max: 20 }), fc.integer({ min: -1, max: 5000 }), (values, count, above) => {
      const sorted = values.filter((value) => value > above).sort((a, b) => a - b);
      expect(lowestPriority(values.length, (row) => values[row] ?? NaN, { count, above })).toBe(sorted[count - 1] ?? Infinity);
    }),
  );
});

test("draws go through every position once an epoch, in an order of their own each", () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 50 }), (seed, size) => {
      const position = epochPositions(size);
      const epoch = (n: number) => Array.from({ length: size }, (_, index) => position({ seed, iteration: n, index, perIteration: size }));
      expect(epoch(0).toSorted((a, b) => a - b)).toEqual(Array.from({ length: size }, (_, i) => i));
      expect(epoch(3).toSorted((a, b) => a - b)).toEqual(epoch(0).toSorted((a, b) => a - b));
      if (size >= 20) expect(epoch(1)).not.toEqual(epoch(0));
    }),
  );
});
