import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { extractProgram } from "../src/designer/extract.ts";
import { defaultGates } from "../src/gates/config.ts";
import { readBank } from "../src/gates/mutants/bank.ts";
import { benchGates, type BenchOptions, type BenchResult } from "../src/gates/mutants/bench.ts";
import { isEquivalent } from "../src/gates/mutants/equivalence.ts";
import type { MutationOperator } from "../src/gates/mutants/operator.ts";
import { mutationOperators, operatorsOf } from "../src/gates/mutants/operators.ts";
import type { MutantBase } from "../src/gates/mutants/trial.ts";
import { wrapped } from "../src/gates/mutants/wrap.ts";
import type { ObservedSandbox } from "../src/sandbox/pool.ts";
import { openTestSandbox } from "../src/sandbox/test-sandbox.ts";
import { spade } from "./command.ts";

/** The short form of `spade gate bench`: one scored mutant per operator and language, drawn from a few programs of every kind. */
const names = ["good/thermostat_requests.py", "good/greenhouse.py", "good/coin_change.ts", "good/berth_tools.ts", "easy/seek.py", "easy/ledger.py", "good/tide_table.py"];
const bank = readBank(join(import.meta.dirname, "../environments")).filter(({ name }) => names.includes(name));

/** Faults are found by fuel and memory; the wall clock is left out, so that a busy machine gives the same verdicts. */
const limits = { fuelPerCall: 20_000, wallMsPerCall: 60_000 };
const config = { ...defaultGates, wallMsPerGate: 600_000 };

let sandbox: ObservedSandbox;
let result: BenchResult;

function bench(more: Pick<BenchOptions, "operators" | "programsPerOperator" | "journal">): Promise<BenchResult> {
  return benchGates({ sandbox, config, seed: 1, bank, extract: extractProgram, ...more });
}

beforeAll(async () => {
  sandbox = await openTestSandbox(limits, 2);
  result = await bench({ operators: mutationOperators, programsPerOperator: 1 });
}, 900_000);
afterAll(() => sandbox.close());

test("every operator plants a fault somewhere, and every executable one is caught", () => {
  expect(bank.length).toBe(names.length);
  expect(result.operators.filter(({ falseAccept }) => falseAccept.n === 0).map(({ operator }) => operator.id)).toEqual([]);
  const escaped = result.operators.filter(({ operator, falseAccept }) => operator.kind === "executable" && falseAccept.count > 0);
  expect(escaped.map(({ operator, admitted }) => `${operator.id}: ${admitted.join()}`)).toEqual([]);
});

test("the good programs are admitted and the targets kept; what only the text gives away is admitted", () => {
  expect(result.rejected).toEqual([]);
  expect(result.missed).toEqual([]);
  expect(result.semantic.count).toBeGreaterThan(0);
});

test("the wrapper that plants faults is itself none: the same programs in an empty one are admitted and equivalent", async () => {
  const nothing: MutationOperator = { id: "nothing", fault: "none", kind: "executable", form: "program", mutate: (program) => wrapped(program, {}) };
  const control = await bench({ operators: [nothing], programsPerOperator: bank.length });
  expect(control.operators[0]).toMatchObject({ equivalent: bank.length, falseAccept: { n: 0 } });
}, 300_000);

test("a fault that is let through misses the targets", async () => {
  const grave: MutationOperator = { ...(operatorsOf(["text-of-other-seed"])[0] as MutationOperator), kind: "executable" };
  const { missed, executable } = await bench({ operators: [grave], programsPerOperator: 2 });
  expect(executable.count).toBeGreaterThan(0);
  expect(missed[0]).toContain("false accept over all executable operators");
}, 300_000);

test("with a journal nothing is judged twice", async () => {
  const kept = new Map<string, unknown>();
  const journal = { get: (key: string) => kept.get(key), put: (key: string, verdict: unknown) => void kept.set(key, JSON.parse(JSON.stringify(verdict))) };
  const options = { operators: operatorsOf(["oracle-empty", "seed-frozen"]), programsPerOperator: 1, journal };
  const whole = await bench(options);
  const { size } = kept;
  expect(size).toBeGreaterThanOrEqual(bank.length + 4);
  expect(await bench(options)).toEqual({ ...whole, programsPerSecond: 0 });
  expect(kept.size).toBe(size);
}, 300_000);

test("mutants that differ are told from those that do not", async () => {
  const { program } = bank.find(({ name }) => name === "easy/seek.py") as MutantBase;
  const options = { sandbox, config, seed: 1 };
  expect(await isEquivalent(program, { ...program, source: `${program.source}\n# the same\n` }, options)).toBe(true);
  const inverted = operatorsOf(["verdict-inverted"])[0]?.mutate(program, 1) ?? "";
  expect(await isEquivalent(program, { ...program, source: inverted }, options)).toBe(false);
}, 300_000);

test.each([
  ["an unknown operator", ["--operators", "comparison-flipped,nonsense"], "usage.operators"],
  ["no programs", ["--programs", "0"], "usage.number"],
  ["a table of some operators", ["--operators", "comparison-flipped", "--write"], "usage.write"],
])("spade gate bench, %s: exit code 2", async (_name, words, code) => {
  const finished = await spade("gate", "bench", ...words);
  expect(finished.stderr).toMatch(new RegExp(`^${code}: `));
  expect(finished.code).toBe(2);
}, 120_000);
