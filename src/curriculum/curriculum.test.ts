import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { remember, selectExamples, selectReplay } from "./archive.ts";
import type { ArchiveEntry } from "./archive.ts";
import { activeSkills, assignSkills } from "./rotation.ts";
import { initialState, withEntries, withReturn } from "./state.ts";

const bands = { positiveBand: [0.15, 0.85], tooEasy: 0.9, tooHard: 0.1 } as const;

function entry(id: string, winRate: number, more: Partial<ArchiveEntry> = {}): ArchiveEntry {
  return { id, skill: "logic", source: `source ${id}`, iteration: 0, lastPlayed: 0, plays: 8, winRate, regret: 0.1, ...more };
}

describe("memory", () => {
  test("is bounded; the oldest leave first; a known id is updated in place", () => {
    const filled = [0, 1, 2, 3].reduce<readonly ArchiveEntry[]>((archive, i) => remember(archive, [entry(`e${i}`, 0.5, { iteration: i })], 3), []);
    expect(filled.map((item) => item.id)).toEqual(["e1", "e2", "e3"]);
    const updated = remember(filled, [entry("e2", 0.9, { iteration: 2 })], 3);
    expect(updated.map((item) => item.winRate)).toEqual([0.5, 0.9, 0.5]);
  });

  test("never exceeds its size nor loses the newest", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(30), { maxLength: 40 }), fc.integer({ min: 1, max: 10 }), (ids, size) => {
        const archive = ids.reduce<readonly ArchiveEntry[]>((state, id, i) => remember(state, [entry(`e${id}-${i}`, 0.5, { iteration: i })], size), []);
        expect(archive).toHaveLength(Math.min(size, ids.length));
        expect(archive.at(-1)?.iteration).toBe(ids.length === 0 ? undefined : ids.length - 1);
      }),
    );
  });
});

describe("examples", () => {
  const archive = [
    entry("good-high", 0.5, { regret: 0.4 }),
    entry("good-low", 0.5, { regret: 0.01 }),
    entry("easy", 0.95),
    entry("hard", 0.05),
    entry("dull", 0.88),
    entry("unmeasured", 0.5, { regret: undefined } as unknown as Partial<ArchiveEntry>),
    entry("elsewhere", 0.5, { skill: "space", regret: 1 }),
  ];
  const request = { skill: "logic", iteration: 9, positives: 1, negatives: 2, seed: 1 };

  test("are of the skill: high regret within the band, and what to avoid", () => {
    const chosen = selectExamples(archive, request, bands);
    expect(chosen[0]).toEqual({ environmentId: "good-high", verdict: "good", skill: "logic", source: "source good-high" });
    expect(new Set(chosen.slice(1).map((item) => `${item.environmentId}: ${item.verdict}`))).toEqual(new Set(["easy: too easy", "hard: too hard"]));
  });

  test("equal seeds choose equally, others vary", () => {
    const many = Array.from({ length: 40 }, (_, i) => entry(`e${i}`, 0.5, { regret: i / 100 }));
    const choose = (seed: number) => selectExamples(many, { ...request, seed }, bands)[0]?.environmentId;
    expect(choose(3)).toBe(choose(3));
    const chosen = Array.from({ length: 50 }, (_, seed) => choose(seed));
    expect(new Set(chosen).size).toBeGreaterThan(8);
    expect(chosen.every((id) => Number(id?.slice(1)) >= 20)).toBe(true);
  });

  test("positives are recent enough: an old win rate is another policy's", () => {
    const aged = [entry("old", 0.5, { regret: 0.9, lastPlayed: 2 }), entry("recent", 0.5, { regret: 0.1, lastPlayed: 3 })];
    const choose = (positiveMaxAge: number) => selectExamples(aged, { ...request, positives: 2, negatives: 0 }, { ...bands, positiveMaxAge }).map(({ environmentId }) => environmentId).sort();
    expect(choose(6)).toEqual(["recent"]);
    expect(choose(7)).toEqual(["old", "recent"]);
    expect(choose(5)).toEqual([]);
  });

  test("an empty archive has none", () => {
    expect(selectExamples([], request, bands)).toEqual([]);
  });
});

describe("replay", () => {
  const archive = [entry("half", 0.5, { learnability: 0.25 }), entry("mixture", 0.5, { learnability: 0 }), entry("mastered", 1)];

  test("prefers learnable environments, by learnability within seeds", () => {
    const first = Array.from({ length: 300 }, (_, seed) => selectReplay(archive, 1, seed)[0]?.id);
    const share = (id: string) => first.filter((item) => item === id).length / first.length;
    expect(share("half")).toBeGreaterThan(0.85);
    expect(share("mixture")).toBeLessThan(0.1);
  });

  test("draws distinct entries, all when there are fewer", () => {
    expect(new Set(selectReplay(archive, 9, 1).map((item) => item.id)).size).toBe(3);
    expect(selectReplay([], 2, 1)).toEqual([]);
  });
});

describe("rotation", () => {
  test("gives each skill equally many turns", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }), (skillCount, active) => {
        fc.pre(active <= skillCount);
        const skills = Array.from({ length: skillCount }, (_, i) => `s${i}`);
        const turns = Array.from({ length: skillCount }, (_, round) => activeSkills(skills, active, round));
        for (const round of turns) expect(new Set(round).size).toBe(active);
        for (const skill of skills) expect(turns.flat().filter((item) => item === skill)).toHaveLength(active);
      }),
    );
  });

  test("spreads tasks evenly", () => {
    expect(assignSkills(["a", "b", "c"], 5)).toEqual(["a", "b", "c", "a", "b"]);
  });
});

describe("state", () => {
  test("is plain JSON and is not mutated", () => {
    const before = JSON.stringify(initialState);
    const state = withReturn(withEntries(initialState, [entry("e", 0.5)], 5), "logic", 0.5, { fastRate: 0.3, slowRate: 0.05 });
    expect(JSON.parse(JSON.stringify(state))).toEqual(state);
    expect(JSON.stringify(initialState)).toBe(before);
  });

  test("averages follow the returns, the fast one faster", () => {
    const rates = { fastRate: 0.5, slowRate: 0.1 };
    const state = withReturn(withReturn(initialState, "logic", 0, rates), "logic", 1, rates);
    expect(state.averages).toEqual({ logic: { fast: 0.5, slow: 0.1 } });
  });
});
