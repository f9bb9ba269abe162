import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { escapeProbes, steadyProbes } from "./escape-probes.ts";
import type { ObservedSandbox } from "./pool.ts";
import { createOne, openProgram, openTestSandbox } from "./test-sandbox.ts";
import { Canaries } from "./testing/canaries.ts";
import { typescriptEscapeProbes } from "./typescript-escape-probes.ts";

const nowhere = { secretFile: "", outputFile: "", port: 0 };
const healthy = "class Healthy(TextGame):\n    def reset(self, seed):\n        return self.show(str(self.start(seed).random()))\n    def step(self, action):\n        return self.finish(True)\n";

let sandbox: ObservedSandbox;
let canaries: Canaries;
let expected = "";

beforeAll(async () => {
  canaries = await Canaries.lay();
  sandbox = await openTestSandbox({ fuelPerCall: 100_000, wallMsPerCall: 2000 });
  expected = (await createOne(await openProgram(sandbox, healthy), 5)).observation;
});

afterAll(async () => {
  await sandbox.close();
  canaries.remove();
});

/** What the program could say: its observation, or the failure. */
async function said(source: string, within = sandbox): Promise<string> {
  const opened = await within.open({ language: "python", source });
  if (!opened.ok) return `${opened.failure.code}: ${opened.failure.message}`;
  const created = (await opened.value.create([1]))[0];
  await opened.value.close();
  return created?.ok === true ? created.value.observation : `${created?.failure.code ?? ""}: ${created?.failure.message ?? ""}`;
}

test("the battery is large: at least 150 probes of both languages, each with a name of its own", () => {
  const python = escapeProbes(nowhere).map(({ name }) => name);
  const typescript = typescriptEscapeProbes(nowhere).map(({ name }) => name);
  expect(new Set(python).size).toBeGreaterThanOrEqual(150);
  expect(new Set(typescript).size).toBeGreaterThanOrEqual(100);
});

describe("escape probes have no effect on the host", () => {
  test.each(escapeProbes(nowhere).map(({ name }) => name))("%s", async (name) => {
    const probe = escapeProbes(canaries.targets).find((one) => one.name === name);
    const text = await said(probe?.source ?? "");
    // The probe itself parsed: it was tried.
    expect(text).not.toMatch(/^parse/);
    const after = await openProgram(sandbox, healthy);
    expect((await createOne(after, 5)).observation).toBe(expected);
    await after.close();
    expect(canaries.effects(text, sandbox)).toEqual([]);
  });
});

describe("clock, entropy and identity are the same in every run", () => {
  test("in one child and in another", async () => {
    const other = await openTestSandbox();
    for (const { name, source } of steadyProbes(canaries.targets)) {
      const first = await said(source);
      expect(first, name).toMatch(/^got/);
      expect(canaries.effects(first), name).toEqual([]);
      expect(await said(source), name).toBe(first);
      expect(await said(source, other), name).toBe(first);
    }
    await other.close();
  });

  test("they say nothing of the host", async () => {
    for (const { source } of steadyProbes(canaries.targets)) expect(await said(source)).not.toMatch(/node_modules|\/home|\/work|\/tmp/);
  });
});
