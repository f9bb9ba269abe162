import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import type { Extraction } from "../../core/environment.ts";
import type { ObservedSandbox } from "../../sandbox/pool.ts";
import { openTestSandbox } from "../../sandbox/test-sandbox.ts";
import { defaultGates } from "../config.ts";
import { type BankProgram, readBank } from "./bank.ts";
import { benchGates, type BenchResult } from "./bench.ts";
import { codeMask } from "./code-mask.ts";
import { isEquivalent } from "./equivalence.ts";
import { mutationOperators, operatorsOf } from "./operators.ts";
import { wilson } from "./wilson.ts";
import { wrapped } from "./wrap.ts";

const bank = readBank(join(import.meta.dirname, "../../../environments"));
const program = (name: string): BankProgram => bank.find((item) => item.name === name)!;

describe("code mask", () => {
  it("blanks strings and comments, not code", () => {
    const python = `a = f"{b['}'] == '\\''} == {{" # ==\nc = """\n=="""\nd == rb'=='`;
    const mask = codeMask(python, "python");
    expect(mask).toHaveLength(python.length);
    expect(mask.split("\n").map((line) => line.trim())).toEqual(["a =", "c =", "", "d =="]);
    const typescript = "const a = `${b === '}'}` + /[/\"]=/g.source; // ===\n/* === */ c === 4 / 2;";
    expect(codeMask(typescript, "typescript").split("\n").map((line) => line.replaceAll(/\s+/g, " ").trim())).toEqual(["const a = + .source;", "c === 4 / 2;"]);
  });
});

test("the Wilson interval of 0 of 20 and 1 of 20", () => {
  expect(wilson(0, 20)).toMatchObject({ rate: 0, low: 0, high: expect.closeTo(0.161, 3) as number });
  expect(wilson(1, 20)).toMatchObject({ rate: 0.05, low: expect.closeTo(0.0089, 3) as number, high: expect.closeTo(0.236, 3) as number });
  expect(wilson(0, 0)).toEqual({ count: 0, n: 0 });
});

describe("operators", () => {
  it("are at least 30, have ids of their own, and each applies somewhere", () => {
    expect(mutationOperators.length).toBeGreaterThanOrEqual(30);
    expect(new Set(mutationOperators.map(({ id }) => id)).size).toBe(mutationOperators.length);
    expect(mutationOperators.filter(({ mutate }) => !bank.some((base) => mutate(base.program, 1) !== undefined)).map(({ id }) => id)).toEqual([]);
  });

  it("are pure functions of program and seed", () => {
    const base = program("good/well_drilling.py").program;
    for (const { mutate } of mutationOperators) expect(mutate(base, 3)).toBe(mutate(base, 3));
  });

  it("an unknown one is refused by name", () => {
    expect(() => operatorsOf(["comparison-flipped", "nonsense"])).toThrow(/no mutation operator "nonsense"/);
  });
});

/** A program per kind; the first on which an operator applies and tells is used. */
const few = ["good/thermostat_requests.py", "good/greenhouse.py", "good/coin_change.ts", "heldout/hidden_key.py", "easy/ledger.py", "good/tide_table.py"].map(program);
const extract = (): Extraction => ({ ok: false, code: "unclosed", message: "" });

describe("in the sandbox", () => {
  let sandbox: ObservedSandbox;
  let result: BenchResult;
  beforeAll(async () => {
    sandbox = await openTestSandbox({ wallMsPerCall: 2000, fuelPerCall: 20_000 }, 2);
    result = await benchGates({ sandbox, config: defaultGates, seed: 1, bank: few, operators: mutationOperators, programsPerOperator: 1, extract });
  }, 600_000);
  afterAll(() => sandbox.close());

  it("admits the good programs and the same programs in an empty wrapper", async () => {
    expect(result.rejected).toEqual([]);
    const operators = [{ id: "nothing", fault: "", kind: "executable", form: "program", mutate: (base: BankProgram["program"]) => wrapped(base, {}) }] as const;
    const control = await benchGates({ sandbox, config: defaultGates, seed: 1, bank: few, operators, programsPerOperator: few.length, extract });
    expect(control.operators[0]).toMatchObject({ equivalent: few.length, falseAccept: { n: 0 } });
  }, 120_000);

  it("scores every operator and catches every executable one", () => {
    expect(result.operators.filter(({ falseAccept }) => falseAccept.n === 0).map(({ operator }) => operator.id)).toEqual([]);
    expect(result.operators.filter(({ operator, falseAccept }) => operator.kind === "executable" && falseAccept.count > 0).map(({ operator, admitted }) => `${operator.id}: ${admitted.join()}`)).toEqual([]);
    expect(result.missed).toEqual([]);
  });

  it("admits what only the text gives away", () => {
    expect(result.semantic.count).toBeGreaterThan(0);
  });

  it("tells mutants that differ from those that do not", async () => {
    const { program: base } = program("heldout/hidden_key.py");
    const options = { sandbox, config: defaultGates, seed: 1 };
    expect(await isEquivalent(base, { ...base, source: `${base.source}\n# the same\n` }, options)).toBe(true);
    const inverted = operatorsOf(["verdict-inverted"])[0]!.mutate(base, 1)!;
    expect(await isEquivalent(base, { ...base, source: inverted }, options)).toBe(false);
  });
});
