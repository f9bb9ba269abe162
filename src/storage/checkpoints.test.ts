import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { findCheckpoint, pruneCheckpoints, removeLeftovers, saveCheckpoint } from "./checkpoints.ts";
import type { Checkpoint } from "./checkpoints.ts";

const root = mkdtempSync(join(tmpdir(), "spade-checkpoints-"));
afterAll(() => rmSync(root, { recursive: true }));

let run = "";
beforeEach(() => (run = mkdtempSync(join(root, "run-"))));

function save(iteration: number, content = `weights ${iteration}`, pinned = false): Promise<Checkpoint> {
  const write = (directory: string): Promise<void> => {
    writeFileSync(join(directory, "weights.bin"), content);
    writeFileSync(join(directory, "optimiser.bin"), `moments of ${content}`);
    return Promise.resolve();
  };
  return saveCheckpoint(run, { iteration, policyVersion: iteration, pinned, write });
}

const names = () => readdirSync(join(run, "checkpoints")).sort();

test("a checkpoint is found again as it was saved", async () => {
  const saved = await save(12);
  expect(saved.name).toBe("000012");
  expect(await findCheckpoint(run, 12)).toEqual({ checkpoint: saved, damaged: [] });
  expect(readFileSync(join(saved.directory, "weights.bin"), "utf8")).toBe("weights 12");
});

test("the digest follows the contents", async () => {
  const first = await save(1, "a");
  expect((await save(1, "a")).digest).toBe(first.digest);
  expect((await save(1, "b")).digest).not.toBe(first.digest);
});

test("checkpoints after the last committed iteration are not used", async () => {
  await save(1);
  await save(2);
  expect((await findCheckpoint(run, 1)).checkpoint?.iteration).toBe(1);
  expect(await findCheckpoint(run, 0)).toEqual({ damaged: [] });
  expect(await findCheckpoint(join(root, "nothing"), 5)).toEqual({ damaged: [] });
});

describe("damage falls back to the older checkpoint, with a message", () => {
  const damages: readonly (readonly [string, (directory: string) => void, string])[] = [
    ["a truncated file", (directory) => truncateSync(join(directory, "weights.bin"), 3), "weights.bin has 3 bytes instead of 9"],
    ["a changed file", (directory) => writeFileSync(join(directory, "weights.bin"), "weights X"), "weights.bin do not match"],
    ["a missing file", (directory) => rmSync(join(directory, "optimiser.bin")), "optimiser.bin is missing"],
    ["a missing manifest", (directory) => rmSync(join(directory, "manifest.json")), "manifest.json is missing"],
    ["half a manifest", (directory) => truncateSync(join(directory, "manifest.json"), 20), "manifest.json cannot be read"],
  ];
  test.each(damages)("%s", async (_name, damage, message) => {
    await save(1);
    damage((await save(2)).directory);
    const found = await findCheckpoint(run, 2);
    expect(found.checkpoint?.iteration).toBe(1);
    expect(found.damaged.map((error) => error.code)).toEqual(["storage.checkpoint"]);
    expect(found.damaged[0]?.message).toContain(message);
    expect(found.damaged[0]?.message).toContain("000002");
  });
});

describe("crashes", () => {
  test("a writer that fails leaves the older checkpoint and no half", async () => {
    await save(1);
    const full = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    const write = (directory: string): Promise<void> => {
      writeFileSync(join(directory, "weights.bin"), "half");
      return Promise.reject(full);
    };
    await expect(saveCheckpoint(run, { iteration: 2, policyVersion: 2, pinned: false, write })).rejects.toMatchObject({ code: "storage.write" });
    expect(names()).toEqual(["000001"]);
  });

  test.each([2, 1])("kill -9 between two files of checkpoint %i leaves checkpoint 1 whole", async (iteration) => {
    const older = await save(1);
    const child = spawn(process.execPath, [join(import.meta.dirname, "testing", "half-checkpoint.ts"), run, String(iteration)], { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(names()).toHaveLength(2);
    expect(await findCheckpoint(run, 9)).toEqual({ checkpoint: older, damaged: [] });
    expect((await save(2)).iteration).toBe(2);
    removeLeftovers(run);
    expect(names()).toEqual(["000001", "000002"]);
  });

  test("an unfinished checkpoint is no checkpoint and is removed", async () => {
    await save(1);
    const half = join(run, "checkpoints", ".tmp-000002");
    mkdirSync(half);
    writeFileSync(join(half, "weights.bin"), "half");
    expect((await findCheckpoint(run, 9)).checkpoint?.iteration).toBe(1);
    removeLeftovers(run);
    expect(existsSync(half)).toBe(false);
    expect(names()).toEqual(["000001"]);
  });
});

test("pruning keeps two or more, the pinned, and what is not committed yet", async () => {
  await save(0, "initial", true);
  for (let i = 1; i <= 5; i++) await save(i);
  pruneCheckpoints(run, { keep: 0, committed: 4 });
  expect(names()).toEqual(["000000", "000003", "000004", "000005"]);
  pruneCheckpoints(run, { keep: 2, committed: 5 });
  expect(names()).toEqual(["000000", "000004", "000005"]);
});
