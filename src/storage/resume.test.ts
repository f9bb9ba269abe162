import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { saveCheckpoint } from "./checkpoints.ts";
import { resumePoint } from "./resume.ts";
import { RunStore } from "./run-store.ts";

let directory = "";
let store: RunStore;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "spade-resume-"));
  store = RunStore.create(directory, { name: "t", programVersion: "0", config: {}, configDigest: "d", provenance: {} });
});
afterEach(() => {
  store.close();
  rmSync(directory, { recursive: true });
});

async function checkpoint(iteration: number): Promise<void> {
  const write = (target: string): Promise<void> => {
    writeFileSync(join(target, "weights.bin"), `weights ${iteration}`);
    return Promise.resolve();
  };
  await saveCheckpoint(directory, { iteration, policyVersion: iteration, pinned: false, write });
}

function commit(iteration: number): void {
  const writer = store.beginIteration(iteration);
  writer.add("curriculumStates", { state: { iteration } });
  writer.commit({ policyVersion: iteration });
}

const damage = (iteration: number) => truncateSync(join(directory, "checkpoints", `00000${iteration}`, "weights.bin"), 1);

test("a run that never committed starts at 0, whatever checkpoint its lost attempt left", async () => {
  await checkpoint(0);
  expect(await resumePoint(store)).toEqual({ nextIteration: 0, damaged: [] });
});

test("killed between checkpoint and commit: goes on from the older checkpoint", async () => {
  await checkpoint(0);
  commit(0);
  await checkpoint(1);
  expect(await resumePoint(store)).toMatchObject({ checkpoint: { iteration: 0 }, nextIteration: 1 });
});

test("a damaged checkpoint rewinds the record to the one before, and the redone record has the same digest", async () => {
  for (let i = 0; i < 3; i++) {
    await checkpoint(i);
    commit(i);
  }
  const uninterrupted = store.digest();
  damage(2);
  const point = await resumePoint(store);
  expect(point).toMatchObject({ checkpoint: { iteration: 1 }, nextIteration: 2 });
  expect(point.damaged).toHaveLength(1);
  expect([...store.rows("curriculumStates")].map((row) => row.iteration)).toEqual([0, 1]);
  commit(2);
  expect(store.digest()).toBe(uninterrupted);
});

test("with every checkpoint damaged the run starts over, and nothing is lost from the file", async () => {
  await checkpoint(0);
  commit(0);
  damage(0);
  expect(await resumePoint(store)).toMatchObject({ nextIteration: 0 });
  expect(store.lastIteration()).toBeUndefined();
});
