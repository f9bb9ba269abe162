import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { benchSpeed } from "../bench/speed.ts";
import { testCache } from "../src/sandbox/test-sandbox.ts";

const tiny = { rounds: 1, programs: 2, instances: 20, cacheDirectory: testCache };

const hasPython = spawnSync("python3", ["--version"]).status === 0;
const notRun = hasPython ? "" : " (NOT RUN: there is no python3)";
if (!hasPython) process.stderr.write(`speed-bench.test.ts: the bench was not tested here${notRun}\n`);

test.runIf(hasPython)(`a tiny bench of speed gives every row, and both sides observe the same${notRun}`, async () => {
  const { rows, programs, sameTraces } = await benchSpeed({ ...tiny, python: "python3" });
  expect(sameTraces).toBe(programs);
  expect(rows.map(({ measure }) => measure)).toContain("batched steps");
  expect(rows.map(({ measure }) => measure)).toContain("gates 1-14 against one smoke validation");
  for (const { measure, pairs, ours, native, ratio } of rows.filter(({ unit }) => unit !== "MiB")) {
    expect(pairs, measure).toBeGreaterThan(0);
    for (const value of [ours, native, ratio]) expect(value, measure).toBeGreaterThan(0);
  }
}, 120_000);

test("without Python it says what is missing and what to do", async () => {
  await expect(benchSpeed({ ...tiny, python: "/nowhere/python3" })).rejects.toThrow(/native CPython .* "\/nowhere\/python3" is none .* --python PATH/);
});
