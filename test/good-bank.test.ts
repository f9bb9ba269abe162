import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gameSkills, toolUseSkills } from "../src/core/role.ts";
import { admitAll, type Admission, type Candidate } from "../src/gates/admit.ts";
import { defaultGates, type GatesConfig } from "../src/gates/config.ts";
import { gateContext } from "../src/gates/context.ts";
import { type GoodProgram, readGoodBank } from "../src/gates/good-bank.ts";
import { rejectingGate } from "../src/gates/record.ts";
import { toolUse } from "../src/gates/tool-use.ts";
import { openProgram, openTestSandbox } from "../src/sandbox/test-sandbox.ts";
import type { ObservedSandbox } from "../src/sandbox/pool.ts";

const directory = join(import.meta.dirname, "..", "environments", "good");
const bank = readGoodBank(directory);
const python = bank.filter(({ program }) => program.language === "python");
/** The profile for foreign pools: a free-text `solution()` is not replayed. */
const foreign: GatesConfig = { ...defaultGates, solvable: { enabled: false } };

/** The contract of a TypeScript program, as far as this test uses it. */
interface Game {
  reset(seed: number): { observation: string };
  step(action: string): { observation: string; reward: number; terminated: boolean; truncated: boolean };
  solution(): string[];
}

let sandbox: ObservedSandbox;
beforeAll(async () => {
  sandbox = await openTestSandbox({}, 2);
}, 180_000);
afterAll(() => sandbox.close());

function candidate({ file, program: { source }, document }: GoodProgram): Candidate {
  return { id: file, text: source, extraction: { ok: true, program: { language: "python", source }, repairs: [] }, document };
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

  it("every Python program passes every gate of its profile", async () => {
    for (const [profile, config] of [["own", defaultGates], ["foreign", foreign]] as const) {
      const programs = python.filter((program) => program.profile === profile);
      expect(rejections(await admitAll(programs.map(candidate), { sandbox, config, seed: 11 }), programs)).toEqual([]);
    }
  }, 600_000);

  it("every Python tool-use program passes gate tool-use", async () => {
    const evidence: Record<string, unknown> = {};
    for (const { file, program: { source }, document } of python.filter(({ kind }) => kind === "tool-use")) {
      const handle = await openProgram(sandbox, source);
      const context = gateContext({ config: defaultGates, sandbox, program: { language: "python", source }, handle, document, seed: 11, clock: () => 0 });
      evidence[file] = await toolUse(context);
      await handle.close();
    }
    expect(Object.entries(evidence).filter(([, found]) => !JSON.stringify(found).startsWith('{"seeds":8,')), JSON.stringify(evidence)).toEqual([]);
  }, 120_000);

  it.each(bank.filter(({ program }) => program.language === "typescript").map(({ file }) => file))("%s is won by its solution, varies with the seed and repeats itself", async (file) => {
    const { default: Program } = (await import(join(directory, file))) as { default: new () => Game };
    const play = (seed: number): string => {
      const game = new Program();
      const first = game.reset(seed).observation;
      const steps = game.solution().map((action) => game.step(action));
      expect(steps.map(({ terminated }) => terminated).indexOf(true), `seed ${seed}`).toBe(steps.length - 1);
      expect(steps.at(-1)?.reward, `seed ${seed}`).toBe(1);
      game.reset(seed);
      for (const action of ["", "²", "nan", "[[], {}, null]", "<tool_call>{</tool_call>", "7".repeat(400), "\u0000"]) expect(game.step(action).reward).toBe(0);
      return first + JSON.stringify(steps);
    };
    const seeds = Array.from({ length: 40 }, (_, seed) => seed);
    expect(new Set(seeds.map(play)).size).toBeGreaterThanOrEqual(20);
    expect(seeds.map(play)).toEqual(seeds.map(play));
    expect(readFileSync(join(directory, file), "utf8")).not.toMatch(/Math\.random|Date|import /);
  });
});
