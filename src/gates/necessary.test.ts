import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSandbox } from "../sandbox/pool.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { defaultGates } from "./config.ts";
import { rejectingGate } from "./record.ts";
import { gateOf, judge, verdictOf } from "./testing/judge.ts";
import { foreignPrograms, necessaryPrograms } from "./testing/later-programs.ts";
import { goodPrograms } from "./testing/programs.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox({ lanes: 1 });
}, 120_000);
afterAll(() => sandbox.close());

describe("gate necessary", () => {
  it("rejects a solution of which any step may be left out, and says which play won", async () => {
    const admission = await judge(necessaryPrograms.redundant, { sandbox });
    expect(verdictOf(admission)).toBe("necessary: redundant");
    expect(rejectingGate(admission.record)?.evidence).toMatchObject({ seed: 0, actions: [expect.stringMatching(/^\d+$/)], got: "reward 1, terminated after 1 action", necessarySteps: Array(8).fill(0) as number[] });
  });

  it("rejects a program that other seeds' solutions win, and says which", async () => {
    const admission = await judge(necessaryPrograms.otherSeed, { sandbox });
    expect(verdictOf(admission)).toBe("necessary: other-seed");
    expect(rejectingGate(admission.record)?.evidence).toMatchObject({ seed: 0, actions: [expect.stringMatching(/^put \d+$/)], expected: expect.stringContaining("loss") as string });
  });

  it("rejects a check that looks for the answer in the action, and says with which action", async () => {
    const admission = await judge(necessaryPrograms.amongOthers, { sandbox });
    expect(verdictOf(admission)).toBe("necessary: among-others");
    expect(rejectingGate(admission.record)?.evidence).toMatchObject({ seed: 0, actions: [expect.stringMatching(/^\w+ \w+ \w+ \w+ \w+ \w+ \w+ \w+ \w+$/)], answersTogether: 8, answersTogetherWin: 8 });
    expect(verdictOf(await judge(necessaryPrograms.amongOthers.replace("self.key in action", "self.key == action.strip()"), { sandbox }))).toBe("admitted");
  });

  it("lets pass a solution of which one step is necessary, unless more are asked for", async () => {
    const admission = await judge(necessaryPrograms.oneNeeded, { sandbox });
    expect(verdictOf(admission)).toBe("admitted");
    expect(gateOf(admission, "necessary")?.evidence).toMatchObject({ steps: Array(8).fill(2) as number[], necessarySteps: Array(8).fill(1) as number[], otherSolutionsWin: 0 });
    const strict = { necessary: { ...defaultGates.necessary, minNecessarySteps: 2 } };
    expect(verdictOf(await judge(necessaryPrograms.oneNeeded, { sandbox, gates: strict }))).toBe("necessary: redundant");
    expect(verdictOf(await judge(goodPrograms["ferry route"] ?? "", { sandbox, gates: strict }))).toBe("admitted");
  });

  it("can be switched off", async () => {
    const gates = { necessary: { ...defaultGates.necessary, enabled: false } };
    expect(verdictOf(await judge(necessaryPrograms.redundant, { sandbox, gates }))).toBe("admitted");
  });
});

describe("profile foreign", () => {
  const gates = { profile: "foreign" as const };

  it.each([
    ["no solution()", foreignPrograms.noSolution, "no solution()", "solvable: no-solution"],
    ["a free text", foreignPrograms.freeText, "free text", "solvable: loses"],
    ["no list", foreignPrograms.notAList, "no list of actions", "solvable: protocol"],
  ])("excuses %s, and the record says so; the own profile does not", async (_name, source, reason, own) => {
    const admission = await judge(source, { sandbox, gates });
    expect(verdictOf(admission)).toBe("admitted");
    expect(admission.record.profile).toBe("foreign");
    for (const id of ["solvable", "necessary"]) expect(gateOf(admission, id)).toMatchObject({ verdict: "not-applicable", code: "not-applicable", message: expect.stringContaining(reason) as string });
    const strict = await judge(source, { sandbox });
    expect(verdictOf(strict)).toBe(own);
    expect(strict.record.profile).toBe("own");
  });

  it("still rejects actions that do not win and what other gates find", async () => {
    expect(verdictOf(await judge(foreignPrograms.wrongActions, { sandbox, gates }))).toBe("solvable: loses");
    expect(verdictOf(await judge(necessaryPrograms.redundant, { sandbox, gates }))).toBe("necessary: redundant");
  });

  it("judges a text that wins as a solution", async () => {
    const admission = await judge(foreignPrograms.winningText, { sandbox, gates });
    expect(gateOf(admission, "solvable")?.verdict).toBe("pass");
  });
});
