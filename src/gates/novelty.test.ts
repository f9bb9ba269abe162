import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSandbox } from "../sandbox/pool.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { defaultGates } from "./config.ts";
import { type ArchivedProgram, fingerprint, nearestNeighbour } from "./novelty.ts";
import { rejectingGate } from "./record.ts";
import { gateOf, judge, verdictOf } from "./testing/judge.ts";
import { nearPrograms } from "./testing/later-programs.ts";
import { goodPrograms } from "./testing/programs.ts";

describe("fingerprints", () => {
  const shingles = [1, 2, 3];
  it("mask numbers and ignore case and punctuation", () => {
    expect(fingerprint({ shingles }, ["Bake 12 loaves!"])).toEqual(fingerprint({ shingles }, ["bake 7 loaves"]));
    expect(fingerprint({ shingles }, ["Bake 12 loaves"])).not.toEqual(fingerprint({ shingles }, ["Bake 12 buns"]));
  });
  it("hold short and empty texts", () => {
    expect(fingerprint({ shingles }, ["", "a b"]).text).toHaveLength(2);
    expect(fingerprint({ shingles }, []).text).toEqual([]);
  });
  it("measure the nearest neighbour by the Jaccard index of both sets", () => {
    const archive = [
      { id: "far", program: [7, 8], text: [9] },
      { id: "near", program: [2, 3, 4], text: [1, 2] },
    ];
    expect(nearestNeighbour({ program: [1, 2, 3], text: [1] }, archive)).toEqual({ id: "near", program: 0.5, text: 0.5 });
    expect(nearestNeighbour({ program: [], text: [] }, [])).toBeUndefined();
    expect(nearestNeighbour({ program: [], text: [] }, [{ id: "empty", program: [], text: [] }])).toEqual({ id: "empty", program: 1, text: 1 });
  });
});

describe("gate novelty", () => {
  let sandbox: Sandbox;
  let archive: ArchivedProgram[];
  beforeAll(async () => {
    sandbox = await openSandbox({ lanes: 1 });
    archive = [];
    for (const id of ["choice", "addition"]) {
      const { fingerprint: found } = await judge(goodPrograms[id] ?? "", { sandbox });
      if (found !== undefined) archive.push({ id, ...found });
    }
  }, 120_000);
  afterAll(() => sandbox.close());

  it("passes on an empty archive", async () => {
    expect(gateOf(await judge(goodPrograms["addition"] ?? "", { sandbox }), "novelty")).toMatchObject({ verdict: "pass", evidence: { archive: 0 } });
  });

  it.each([
    ["the same program", goodPrograms["addition"] ?? ""],
    ["the same with other names and numbers", nearPrograms.renamed],
  ])("rejects %s and names the neighbour", async (_name, source) => {
    const admission = await judge(source, { sandbox, archive });
    expect(verdictOf(admission)).toBe("novelty: near");
    expect(rejectingGate(admission.record)).toMatchObject({ message: expect.stringContaining('"addition"') as string, evidence: { archive: 2, nearest: { id: "addition", text: 1 } } });
    expect(admission.fingerprint).toBeUndefined();
  });

  it("lets pass a variant of the family", async () => {
    const admission = await judge(nearPrograms.variant, { sandbox, archive });
    expect(verdictOf(admission)).toBe("admitted");
    expect(gateOf(admission, "novelty")?.evidence).toMatchObject({ nearest: { id: "addition" } });
  });

  it("is limited and switched by configuration", async () => {
    const renamed = { novelty: { ...defaultGates.novelty, maxProgramSimilarity: 1 } };
    expect(verdictOf(await judge(nearPrograms.renamed, { sandbox, archive, gates: renamed }))).toBe("admitted");
    const off = await judge(goodPrograms["addition"] ?? "", { sandbox, archive, gates: { novelty: { ...defaultGates.novelty, enabled: false } } });
    expect(verdictOf(off)).toBe("admitted");
    expect(off.fingerprint).toBeUndefined();
  });
});
