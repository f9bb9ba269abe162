import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Rng } from "../src/core/seed.ts";
import { readBank } from "../src/gates/mutants/bank.ts";
import type { ObservedSandbox } from "../src/sandbox/pool.ts";
import { openTestSandbox } from "../src/sandbox/test-sandbox.ts";
import { compareWays, drawCases, openTwice } from "../src/sandbox/testing/determinism.ts";
import { restlessPrograms } from "../src/sandbox/testing/restless.ts";

vi.setConfig({ testTimeout: 300_000 });
const everyNth = 6;
const casesPerProgram = 4;
const programs = readBank(join(import.meta.dirname, "..", "environments"), { foreign: true });

let sandbox: ObservedSandbox;
beforeAll(async () => {
  sandbox = await openTestSandbox({}, 2);
}, 180_000);
afterAll(() => sandbox.close());

test("same program, seed and actions give the same bytes: alone, interleaved, forked, restored, replayed, in another child", async () => {
  const chosen = ["python", "typescript"].flatMap((language) => programs.filter(({ program }) => program.language === language).filter((_, i) => i % everyNth === 0));
  expect(new Set(chosen.map(({ program }) => program.language)).size).toBe(2);
  const rng = new Rng(20);
  let played = 0;
  for (const { name, program } of [...restlessPrograms, ...chosen]) {
    const handles = await openTwice(sandbox, program);
    const cases = await drawCases(handles[0], casesPerProgram, rng);
    const { records, differences } = await compareWays(name, handles, cases);
    expect(differences).toEqual([]);
    played += records.filter((record) => record.length > 3).length;
    await Promise.all(handles.map((handle) => handle.close()));
  }
  expect(played).toBeGreaterThanOrEqual(50);
});

test("the comparison can fail: a program with a memory of its other instances", async () => {
  const source = "import math\nclass Counter(TextGame):\n    def reset(self, seed=None):\n        self.start(seed)\n        return self.show('ready')\n    def step(self, action):\n        math.count = getattr(math, 'count', 0) + 1\n        return self.tell(str(math.count))\n";
  const handles = await openTwice(sandbox, { language: "python", source });
  const { differences } = await compareWays("counter", handles, [{ seed: 1, actions: ["a", "b"], forkTurn: 1 }]);
  expect(differences.map(({ way }) => way)).toContain("interleaved");
});
