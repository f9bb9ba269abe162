import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bpeTokenizer } from "../../src/engine/bpe.ts";
import { BatchFeed } from "./batch-feed.ts";
import { bundledPassages, demonstratedPrograms, exampleSource, firstOfPhase, newPlan, planOf } from "./data.ts";
import type { DataPlan } from "./data.ts";
import { isHeldOut } from "./documents.ts";
import { batchAt } from "./examples.ts";
import type { Batch } from "./examples.ts";
import { recipe } from "./recipe.ts";

const passages = bundledPassages();
const plan: DataPlan = newPlan(passages, 30);
let state: string;

beforeAll(async () => {
  state = await mkdtemp(join(tmpdir(), "nano-data-"));
  await writeFile(join(state, "plan.json"), JSON.stringify(plan));
});

afterAll(() => rm(state, { recursive: true }));

/** Batches of a feed, which is closed afterwards. */
async function batchesFrom(first: number, count: number): Promise<Batch[]> {
  const feed = new BatchFeed({ plan, first });
  try {
    const batches: Batch[] = [];
    while (batches.length < count) batches.push(await feed.next());
    return batches;
  } finally {
    await feed.close();
  }
}

describe("data of pretraining", () => {
  it("has a demonstration for each index, the same every time and in any order", () => {
    const [one, other] = [exampleSource(plan, "training"), exampleSource(plan, "training")];
    const forwards = Array.from({ length: 40 }, (_, index) => one(index));
    const backwards = Array.from({ length: 40 }, (_, index) => other(39 - index)).reverse();
    expect(backwards).toEqual(forwards);
    expect(new Set(forwards.map(({ tokens }) => tokens.join())).size).toBe(40);
  });

  it("goes on after a resume with the batches that an uninterrupted run has", async () => {
    const whole = await batchesFrom(0, 4);
    const resumed = await batchesFrom(whole[1]?.next ?? 0, 2);
    expect(resumed).toEqual(whole.slice(2));
    expect(whole[0]).toEqual(batchAt(0, exampleSource(plan, "training")));
  });

  it.each(recipe.phases.map(({ mix }, phase) => ({ phase, mix })))("keeps near the shares of tokens of phase $phase", ({ phase, mix }) => {
    const at = exampleSource(plan, "training");
    const tokens = { designer: 0, hint: 0, agent: 0 };
    for (let index = 0; index < 1500; index++) {
      const example = at(firstOfPhase(phase) + index);
      tokens[example.kind] += example.tokens.length;
    }
    const total = tokens.designer + tokens.hint + tokens.agent;
    for (const kind of ["designer", "hint", "agent"] as const) expect(Math.abs(tokens[kind] / total - mix[kind])).toBeLessThan(0.08);
  });

  it("shows the held-out passages in validation only", () => {
    const tokenizer = bpeTokenizer(plan.bpe);
    const heldOut = passages.filter(({ id }) => isHeldOut(id)).map(({ text }) => text.slice(0, 60));
    expect(heldOut.length).toBeGreaterThan(20);
    const shown = (split: "training" | "validation", count: number): number => {
      const at = exampleSource(plan, split);
      const texts = Array.from({ length: count }, (_, index) => tokenizer.decode(at(index).tokens));
      return texts.filter((text) => heldOut.some((start) => text.includes(start))).length;
    };
    expect(shown("training", 600)).toBe(0);
    expect(shown("validation", 60)).toBeGreaterThan(0);
  
  });

  it("knows the programs of its demonstrations", () => {
    const programs = demonstratedPrograms(plan, [60, firstOfPhase(1)], 100);
    const kinds = Array.from({ length: 60 }, (_, index) => exampleSource(plan, "training")(index).kind);
    expect(programs).toHaveLength(kinds.filter((kind) => kind !== "agent").length);
    const tokenizer = bpeTokenizer(plan.bpe);
    const first = exampleSource(plan, "training")(kinds.findIndex((kind) => kind !== "agent"));
    expect(tokenizer.decode(first.tokens)).toContain(programs[0]?.source);
  });

  it("refuses a run that was planned with other data", async () => {
    expect(await planOf(state)).toEqual(plan);
    const path = join(state, "plan.json");
    await writeFile(path, JSON.stringify({ ...(JSON.parse(await readFile(path, "utf8")) as DataPlan), digest: "0" }));
    await expect(planOf(state)).rejects.toThrow(/planned with digest 0.*--state/u);
  });
});
