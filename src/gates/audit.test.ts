import { afterAll, beforeAll, expect, it } from "vitest";
import { SpadeError } from "../core/errors.ts";
import { openSandbox } from "../sandbox/pool.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { AuditReport, AuditTask } from "./audit.ts";
import { defaultGates } from "./config.ts";
import { rejectingGate } from "./record.ts";
import { gateOf, judge, verdictOf } from "./testing/judge.ts";
import { offByOne } from "./testing/later-programs.ts";
import { goodPrograms } from "./testing/programs.ts";
import { scriptedAuditor } from "./testing/scripted-auditor.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox({ lanes: 1 });
}, 120_000);
afterAll(() => sandbox.close());

const gates = { audit: { ...defaultGates.audit, enabled: true } };

/** Adds the numbers of the first text it is shown and says that the sum must win. */
function adder({ resets }: AuditTask): AuditReport {
  const { seed, observation } = resets[0] ?? { seed: 0, observation: "" };
  const sum = (observation.match(/\d+/g) ?? []).reduce((total, digits) => total + Number(digits), 0);
  return { opinion: "disagree", reason: "The text asks for a sum.", demonstration: { seed, actions: [String(sum)], expected: "win" } };
}

it("rejects when the replay shows the disagreement, with seed, actions, expected and got", async () => {
  const admission = await judge(offByOne, { sandbox, gates, auditor: scriptedAuditor(adder) });
  expect(verdictOf(admission)).toBe("audit: disagreement");
  expect(rejectingGate(admission.record)?.evidence).toMatchObject({ seed: 0, actions: [expect.stringMatching(/^\d+$/)], expected: "a win, by the text", got: "reward 0, terminated after 1 action" });
});

it("lets pass what the replay refutes: the same claim about a right program", async () => {
  const auditor = scriptedAuditor(adder);
  const admission = await judge(goodPrograms["addition"] ?? "", { sandbox, gates, auditor });
  expect(verdictOf(admission)).toBe("admitted");
  expect(gateOf(admission, "audit")?.evidence).toMatchObject({ opinion: "disagree", shown: false });
  expect(auditor.tasks[0]?.resets).toHaveLength(defaultGates.audit.seeds);
});

it.each<[string, AuditReport]>([
  ["an opinion alone", { opinion: "disagree", reason: "I do not like it." }],
  ["no action", { opinion: "disagree", reason: "", demonstration: { seed: 0, actions: [], expected: "win" } }],
  ["more actions than turns", { opinion: "disagree", reason: "", demonstration: { seed: 0, actions: Array<string>(26).fill("1"), expected: "win" } }],
  ["an agreement with a demonstration", { opinion: "agree", reason: "", demonstration: { seed: 0, actions: ["1"], expected: "win" } }],
])("%s does not reject", async (_name, report) => {
  expect(verdictOf(await judge(offByOne, { sandbox, gates, auditor: scriptedAuditor(() => report) }))).toBe("admitted");
});

it("fails closed when the auditor fails", async () => {
  const auditor = { audit: () => Promise.reject(new Error("no answer")) };
  expect(verdictOf(await judge(offByOne, { sandbox, gates, auditor }))).toBe("audit: error");
});

it("is off by default and refuses to run without an auditor", async () => {
  expect(gateOf(await judge(offByOne, { sandbox }), "audit")?.verdict).toBe("off");
  await expect(judge(offByOne, { sandbox, gates })).rejects.toMatchObject({ code: "gate.noAuditor" });
});

it("lets an auditor that cannot be asked end the run: its failure says nothing of the program", async () => {
  const auditor = { audit: () => Promise.reject(new SpadeError("policy.budget", "The limit is reached.")) };
  await expect(judge(goodPrograms["addition"] ?? "", { sandbox, gates, auditor })).rejects.toMatchObject({ code: "policy.budget" });
});
