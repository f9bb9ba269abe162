import { expect, it } from "vitest";
import { textRenderer } from "../chat/text-renderer.ts";
import type { AnyPolicy, SampleRequest } from "../policy/policy.ts";
import type { Prompt } from "../core/chat.ts";
import { modelAuditor } from "./auditor.ts";

const task = { program: { language: "python" as const, source: "class A:\n    pass" }, resets: [{ seed: 3, observation: "A door." }], maxTurns: 4 };

function auditorThatSays(text: string): { readonly auditor: ReturnType<typeof modelAuditor>; readonly asked: SampleRequest<Prompt>[] } {
  const asked: SampleRequest<Prompt>[] = [];
  const policy: AnyPolicy = {
    contextLength: Infinity,
    sample: (requests) => {
      asked.push(...requests);
      return Promise.resolve(requests.map(() => ({ text, tokenCount: 1, stop: "stop" as const, policyVersion: 0 })));
    },
  };
  return { asked, auditor: modelAuditor({ policy, renderer: textRenderer }, { sampling: { temperature: 0, topP: 1, topK: 0, maxTokens: 99 }, seed: 1 }) };
}

it("shows program, seeds and texts, and reads the report behind the thoughts", async () => {
  const { auditor, asked } = auditorThatSays('<think>{"opinion": "agree"}</think>step() returns {}:\n```json\n{"opinion": "disagree", "reason": "r", "demonstration": {"seed": 3, "actions": ["{x}"], "expected": "win"}}\n```');
  expect(await auditor.audit(task)).toEqual({ opinion: "disagree", reason: "r", demonstration: { seed: 3, actions: ["{x}"], expected: "win" } });
  const shown = JSON.stringify(asked[0]?.prompt);
  for (const part of ["class A:", "seed 3", "A door.", "at most 4 turns"]) expect(shown).toContain(part);
});

it("takes an opinion without a demonstration", async () => {
  expect(await auditorThatSays('{"opinion": "agree", "reason": "r", "demonstration": null}').auditor.audit(task)).toEqual({ opinion: "agree", reason: "r" });
});

it.each(["", "I think it is fine.", '{"opinion": "maybe", "reason": "r"}', '{"opinion": "disagree", "reason'])("fails the gate on %j", async (reply) => {
  await expect(auditorThatSays(reply).auditor.audit(task)).rejects.toMatchObject({ code: "gate.audit" });
});
