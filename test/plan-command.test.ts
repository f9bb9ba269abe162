import { writeFileSync } from "node:fs";
import { afterAll, expect, test, vi } from "vitest";
import { spade, workDirectory, writeConfig } from "./command.ts";

vi.setConfig({ testTimeout: 180_000 });
const { path, remove } = workDirectory();
afterAll(remove);

test("spade plan prints counts, time and the doctor's checks, and fails where a check does", async () => {
  const config = writeConfig(path("plan.json"));
  const planned = await spade("plan", config, "--rate", "agentSampledPrice=2", "--set", "run.iterations=5", "--no-checks", "--json");
  expect(planned.stderr).toBe("");
  expect(JSON.parse(planned.stdout)).toMatchObject({ rates: { agentSampledPrice: 2 }, plan: { iterations: 5, updates: 5, unknown: [], cost: { expected: expect.any(Number) as number } } });
  const broken = await spade("plan", config, "--set", `policy.model=${path("nothing")}`);
  expect(broken.code).toBe(1);
  expect(broken.stdout).toMatch(/^failed +model /m);
  expect(broken.stdout).toMatch(/^Unknown rates: /m);
});

test.each<readonly [string, readonly string[], readonly string[]]>([
  ["a rate that is none", ["--rate", "admittedShares=0.5"], ["usage.rates", "admittedShare"]],
  ["a share above 1", ["--rate", "admittedShare=2"], ["usage.rates", "admittedShare"]],
  ["a word that is no assignment", ["--set", "run.iterations"], ["usage.assignment", '"run.iterations"']],
  ["a rates file that is no JSON", ["--rates", "RATES"], ["usage.rates", "rates.json"]],
  ["a run that is none", ["--from", "no/such/run"], ["storage.missing", "no/such/run"]],
])("%s is a named error", async (_name, words, says) => {
  writeFileSync(path("rates.json"), "{");
  const finished = await spade("plan", "smoke", "--no-checks", ...words.map((word) => (word === "RATES" ? path("rates.json") : word)));
  for (const part of says) expect(finished.stderr).toContain(part);
  expect(finished.code).not.toBe(0);
});
