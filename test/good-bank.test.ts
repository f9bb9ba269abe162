import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gameSkills, toolUseSkills } from "../src/core/role.ts";
import { admitAll, type Admission, type Candidate } from "../src/gates/admit.ts";
import { defaultGates } from "../src/gates/config.ts";
import { type GoodProgram, readGoodBank } from "../src/gates/good-bank.ts";
import { rejectingGate } from "../src/gates/record.ts";
import { openTestSandbox } from "../src/sandbox/test-sandbox.ts";
import type { ObservedSandbox } from "../src/sandbox/pool.ts";

const directory = join(import.meta.dirname, "..", "environments", "good");
const bank = readGoodBank(directory);
let sandbox: ObservedSandbox;
beforeAll(async () => {
  sandbox = await openTestSandbox({}, 2);
}, 180_000);
afterAll(() => sandbox.close());

function candidate({ file, program, document }: GoodProgram): Candidate {
  return { id: file, text: program.source, extraction: { ok: true, program, repairs: [] }, document };
}

function rejections(admissions: readonly Admission[], programs: readonly GoodProgram[]): string[] {
  return admissions.flatMap((admission, i) => {
    const gate = rejectingGate(admission.record);
    return gate === undefined ? [] : [`${programs[i]?.file ?? ""}: ${gate.id}: ${gate.code}: ${gate.message} ${JSON.stringify(gate.evidence).slice(0, 600)}`];
  });
}

describe("the good bank", () => {
  it("covers the six game skills, six tool-use skills, both languages and all kinds", () => {
    expect(bank.length).toBeGreaterThanOrEqual(36);
    const skillsOf = (programs: readonly GoodProgram[]): string[] => [...new Set(programs.map(({ skill }) => skill))].sort();
    expect(skillsOf(bank.filter(({ kind }) => kind !== "tool-use"))).toEqual([...gameSkills].sort());
    expect(skillsOf(bank.filter(({ kind }) => kind === "tool-use"))).toEqual([...toolUseSkills].sort());
    expect(bank.filter(({ program }) => program.language !== "python").length).toBeGreaterThanOrEqual(6);
    for (const kind of ["boxed", "interactive", "tool-use"] as const) expect(bank.filter((program) => program.kind === kind).length).toBeGreaterThanOrEqual(6);
    expect(bank.filter(({ profile }) => profile === "foreign").length).toBeGreaterThanOrEqual(3);
    for (const { file, program } of bank) expect(program.source.split("\n").length, file).toBeLessThanOrEqual(300);
  });

  it.each(["own", "foreign"] as const)("every program of the profile %s passes every gate", async (profile) => {
    const programs = bank.filter((program) => program.profile === profile);
    const config = { ...defaultGates, profile };
    expect(rejections(await admitAll(programs.map(candidate), { sandbox, config, seed: 11 }), programs)).toEqual([]);
  }, 600_000);
});
