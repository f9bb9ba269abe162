import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { runReport, runSummary } from "../src/cli/summary.ts";
import { mutationOperators } from "../src/gates/mutants/operators.ts";
import { addition, oneTurn } from "../src/gates/testing/programs.ts";
import { iterationMetrics } from "../src/report/iteration-metrics.ts";
import { judgedMutants, mutantEvent, readIterationRows } from "../src/report/run-rows.ts";
import type { Sandbox } from "../src/sandbox/sandbox.ts";
import { openTestSandbox } from "../src/sandbox/test-sandbox.ts";
import { type Script, scriptedLoop, type ScriptedLoop, written } from "../src/selfplay/testing/scripted-loop.ts";
import { type TableName, tables } from "../src/storage/tables.ts";

vi.setConfig({ testTimeout: 300_000 });
let sandbox: Sandbox;
const loops: ScriptedLoop[] = [];
beforeAll(async () => {
  sandbox = await openTestSandbox({ fuelPerCall: 20_000, wallMsPerCall: 60_000 });
}, 180_000);
afterEach(() => {
  for (const loop of loops.splice(0)) loop.close();
});
afterAll(() => sandbox.close());

/** Designs sums, of which the second task is rubbish; wins on even request seeds. */
const script: Script = {
  design: ({ messages, seed }) => (messages.length > 0 && seed % 4 === 0 ? "I cannot." : written(oneTurn({ reset: addition }))),
  hint: () => "Add both numbers of pieces with care.",
  act: ({ last, seed }) => {
    const numbers = last.match(/\d\d/g)?.map(Number) ?? [];
    return `\\boxed{${(numbers[0] ?? 0) + (numbers[1] ?? 0) + (seed % 2)}}`;
  },
};

async function start(gates: object = {}): Promise<ScriptedLoop> {
  const loop = await scriptedLoop(sandbox, script, { design: { tasksPerIteration: 4, activeSkills: 1, sampling: { maxTokens: 2000 } }, gates: { wallMsPerGate: 600_000, ...gates } });
  loops.push(loop);
  return loop;
}

/** All rows of the record but the mutants' events, as text. */
function rowsOf({ store }: ScriptedLoop): string[] {
  return (Object.keys(tables) as TableName[]).flatMap((name) => [...store.rows(name)].filter((row) => !("kind" in row) || row.kind !== mutantEvent).map((row) => JSON.stringify([name, { ...row, timing: undefined }])));
}

test("mutants change nothing but the record of themselves: not the batch, not the archive, not what is played or paid", async () => {
  const [plain, mutated] = [await start(), await start({ mutants: { rate: 1 } })];
  for (const loop of [plain, mutated]) for (let i = 0; i < 2; i++) await loop.next();
  expect(judgedMutants(plain.store)).toEqual([]);
  const mutants = judgedMutants(mutated.store);
  expect(mutants.length).toBeGreaterThanOrEqual(4);
  expect(rowsOf(plain).length).toBeGreaterThan(50);
  expect(rowsOf(mutated)).toEqual(rowsOf(plain));
  expect(mutated.trainer.batches).toEqual(plain.trainer.batches);
  expect(mutated.requests).toEqual(plain.requests);
  expect(mutated.state()).toEqual(plain.state());
  const [environments, executable] = [[...mutated.store.rows("environments")], mutationOperators.filter(({ kind }) => kind === "executable").map(({ id }) => id)];
  for (const { beside, of, operator, verdict, gate } of mutants) {
    expect(environments.map(({ id }) => id)).toContain(beside);
    expect(environments.find(({ id }) => id === of)).toMatchObject({ admitted: true });
    expect(executable).toContain(operator);
    expect(gate === undefined).toBe(verdict !== "rejected");
  }
});

describe("rate", () => {
  test("0 is the default and leaves the record as it is without the setting", async () => {
    const [unset, zero] = [await start(), await start({ mutants: { rate: 0 } })];
    for (const loop of [unset, zero]) await loop.next();
    expect(rowsOf(zero)).toEqual(rowsOf(unset));
    expect(judgedMutants(zero.store)).toEqual([]);
    expect(iterationMetrics(readIterationRows(zero.store, 1))).not.toHaveProperty("mutants");
    expect(runReport(zero.store.directory)).not.toHaveProperty("mutants");
  });

  test("equal seeds give equal mutants", async () => {
    const pair = [await start({ mutants: { rate: 0.5 } }), await start({ mutants: { rate: 0.5 } })];
    for (const loop of pair) for (let i = 0; i < 2; i++) await loop.next();
    const [first, second] = pair.map(({ store }) => [judgedMutants(store), store.digest()]);
    expect(first).toEqual(second);
    const { length } = first?.[0] as unknown[];
    expect(length).toBeGreaterThan(0);
    expect(length).toBeLessThan(8);
  });
});

test("mutants that are admitted are counted, with their operators and an interval", async () => {
  const off = { enabled: false };
  const blind = { robustness: off, resources: off, determinism: off, variety: off, "pre-satisfied": off, solvable: off, necessary: off, "not-trivial": off, leak: off, shape: off };
  const loop = await start({ ...blind, mutants: { rate: 1 } });
  await loop.next();
  const mutants = judgedMutants(loop.store);
  const admitted = mutants.filter(({ verdict }) => verdict === "admitted");
  const scored = mutants.filter(({ verdict }) => verdict === "admitted" || verdict === "rejected").length;
  expect(admitted.length).toBeGreaterThan(0);
  expect(iterationMetrics(readIterationRows(loop.store, 1))).toMatchObject({ mutants: scored, mutantsAdmitted: admitted.length });
  const report = runReport(loop.store.directory);
  expect(report.mutants?.falseAccept).toMatchObject({ count: admitted.length, n: scored, low: expect.any(Number) as number, high: expect.any(Number) as number });
  expect(Object.keys(report.mutants?.admittedBy ?? {})).toEqual([...new Set(admitted.map(({ operator }) => operator))].sort());
  expect(runSummary(loop.store.directory)).toMatch(new RegExp(`mutants judged beside the candidates: ${admitted.length} of ${scored} \\(\\d.* interval .*\\) admitted.*\nfaults let through: `));
});
