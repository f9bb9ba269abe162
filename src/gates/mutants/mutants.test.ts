import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { readBank } from "./bank.ts";
import { codeMask } from "../code-mask.ts";
import { mutationOperators, operatorsOf } from "./operators.ts";
import { shareOf } from "./share.ts";

const bank = readBank(join(import.meta.dirname, "../../../environments"));

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
  expect(shareOf(0, 20)).toMatchObject({ rate: 0, low: 0, high: expect.closeTo(0.161, 3) as number });
  expect(shareOf(1, 20)).toMatchObject({ rate: 0.05, low: expect.closeTo(0.0089, 3) as number, high: expect.closeTo(0.236, 3) as number });
  expect(shareOf(0, 0)).toEqual({ count: 0, n: 0 });
});

describe("operators", () => {
  it("are at least 30, have ids of their own, and each applies somewhere", () => {
    expect(mutationOperators.length).toBeGreaterThanOrEqual(30);
    expect(new Set(mutationOperators.map(({ id }) => id)).size).toBe(mutationOperators.length);
    expect(mutationOperators.filter(({ mutate }) => !bank.some((base) => mutate(base.program, 1) !== undefined)).map(({ id }) => id)).toEqual([]);
  });

  it("are pure functions of program and seed", () => {
    const base = bank.find(({ name }) => name === "good/well_drilling.py")!.program;
    for (const { mutate } of mutationOperators) expect(mutate(base, 3)).toBe(mutate(base, 3));
  });

  it("an unknown one is refused by name", () => {
    expect(() => operatorsOf(["comparison-flipped", "nonsense"])).toThrow(/no mutation operator "nonsense"/);
  });
});
