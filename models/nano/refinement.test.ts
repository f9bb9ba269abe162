import { describe, expect, it } from "vitest";
import { bundledPassages, newPlan } from "./data.ts";
import { recipe } from "./recipe.ts";
import { namesEachWordOnce, refinementBatches } from "./refinement.ts";

const plan = newPlan(bundledPassages(), 20);
const own = Array.from({ length: 9 }, (_, index) => ({ tokens: new Int32Array(300 + index), weights: new Float32Array(300 + index).fill(1) }));
const tokensOf = (rows: readonly { tokens: Int32Array }[]): number => rows.reduce((sum, { tokens }) => sum + tokens.length, 0);

describe("refinementBatches", () => {
  const batches = refinementBatches(0, own, plan);
  const rows = batches.flat();

  it("holds each of the model's own programs once, and about as many tokens of demonstrations", () => {
    for (const row of own) expect(rows.filter((other) => other === row)).toHaveLength(1);
    const fresh = tokensOf(rows) - tokensOf(own);
    expect(fresh).toBeGreaterThanOrEqual(tokensOf(own));
    expect(fresh).toBeLessThan(tokensOf(own) + recipe.model.contextLength);
  });

  it("fills batches to the recipe's size, but for the last", () => {
    for (const batch of batches.slice(0, -1)) expect(tokensOf(batch)).toBeGreaterThanOrEqual(recipe.batchTokens);
    expect(batches.at(-1)?.length).toBeGreaterThan(0);
  });

  it("mixes the same rows differently in another round, and the same in the same", () => {
    expect(refinementBatches(0, own, plan)).toEqual(batches);
    expect(refinementBatches(1, own, plan).flat().indexOf(own[0]!)).not.toBe(rows.indexOf(own[0]!));
  });

  it("has nothing to train on when nothing was admitted", () => expect(refinementBatches(0, [], plan)).toEqual([]));
});

describe("namesEachWordOnce", () => {
  it("refuses a plan that names a word twice", () => {
    expect(namesEachWordOnce("list: motor bell volts\n```python\nmotor motor\n```")).toBe(true);
    expect(namesEachWordOnce("list: motor bell motor\n```python\n```")).toBe(false);
  });
});
