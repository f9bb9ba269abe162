import { describe, expect, it } from "vitest";
import type { DesignTask } from "../core/environment.ts";
import { testChat } from "../chat/testing/conversation.ts";
import { extractProgram } from "./extract.ts";
import type { PromptMessages } from "./prompts.ts";
import { promptSets } from "./prompt-sets.ts";

const full = promptSets.full;
const task: DesignTask = {
  id: "1.0",
  skill: "Logical Deduction",
  documentId: "d",
  documentText: "The mill stands by the river. ",
  examples: [
    { verdict: "good", skill: "Optimization", source: "class A:\n    pass\n" },
    { verdict: "too easy", skill: "Optimization", source: `class B:\n    note = "${"x".repeat(500)}"\n` },
  ],
};

describe("design", () => {
  const { system, user } = full.design(task, 200);

  it("names the whole contract of an environment", () => {
    for (const part of ["reset(self, seed=None)", "step(self, action)", "solution(self)", "max_turns", "(observation, info)", "(observation, reward, terminated, truncated, info)", "\\boxed{}", "\\boxed{{42}}", "random.Random(seed)", "standard library", "```python"]) {
      expect(system + user).toContain(part);
    }
  });

  it("gives skill, document and examples with their verdicts, cut", () => {
    expect(user).toContain("Logical Deduction");
    expect(user).toContain("The mill stands by the river.");
    expect(user).toContain("class A:\n    pass");
    expect(user).toMatch(/Optimization, too easy/);
    expect(user).not.toContain("x".repeat(200));
    expect(full.design({ ...task, examples: [] }, 200).user).not.toContain("Earlier environments");
  });

  it("names gate, code and message of a rejection, and asks for nothing else otherwise", () => {
    const rejection = { gate: "solvable", code: "loses", message: "solution() does not win on seed 3." };
    const retry = full.design(task, 200, rejection);
    for (const part of Object.values(rejection)) expect(retry.user).toContain(part);
    expect(retry.system).toBe(system);
    expect(user).not.toMatch(/refused/);
  });

  it("asks for the form that the extraction reads", () => {
    const reply = "It is about a mill.\n```python\nclass Mill:\n    pass\n```";
    expect(extractProgram(reply)).toMatchObject({ ok: true, program: { source: "class Mill:\n    pass\n" } });
  });
});

it.each(["qwen3", "llama3"] as const)("is rendered through the chat template of %s, whole and in both arms the same but for the hint", async (family) => {
  const chat = await testChat(family);
  const shown = (messages: PromptMessages): string => chat.tokenizer.decode(chat.renderer.prompt(messages));
  const { system, user } = full.design(task, 200);
  expect(shown({ system, user })).toContain(system);
  expect(shown({ system, user })).toContain(user);
  const [plain, hinted] = [shown(full.play("A door.")), shown(full.play("A door.", "count the steps"))];
  expect(hinted.replace("\n\nHint: count the steps", "")).toBe(plain);
});

it("asks for a hint with the source and nothing else, in words and without a solution", () => {
  const { system, user } = full.hint("class A:\n    pass\n");
  expect(user).toContain("class A:\n    pass");
  expect(system).toMatch(/Never give a solution/);
  expect(user).not.toContain(task.documentText);
});

it.each(["compact", "full"] as const)("%s: the arms differ in the hint alone (invariant 5)", (name) => {
  const { play } = promptSets[name];
  const [plain, hinted] = [play("A door."), play("A door.", "count the steps")];
  expect(hinted.system).toBe(plain.system);
  expect(plain.user).toBe("A door.");
  expect(hinted.user.replace(/(\n\nHint: |hint: )count the steps\n?/, "")).toBe(plain.user);
  expect(plain.system + plain.user).not.toMatch(/hint/i);
});

it("tells the agent how it acts", () => {
  expect(full.play("A door.").system).toContain("\\boxed{}");
});
