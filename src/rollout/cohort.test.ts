import { expect, test } from "vitest";
import { SpadeError } from "../core/errors.ts";
import { defaultLimits } from "../sandbox/limits.ts";
import { Cohort } from "./cohort.ts";
import { fakeSandbox } from "./testing/fake-sandbox.ts";

const echo = { echo: () => ({ reset: () => "ready", step: (action: string) => ({ observation: action.slice(0, 5) }) }) };
const program = { language: "python", source: "echo" } as const;

test("an action longer than the sandbox takes ends its own episode and no other", async () => {
  const cohort = new Cohort(fakeSandbox({ environments: echo }), program, [1, 2, 3]);
  await cohort.start();
  const long = "x".repeat(defaultLimits.maxActionChars + 1);
  const answers = await Promise.all([cohort.step(0, "a"), cohort.step(1, long), cohort.step(2, "c")]);
  expect(answers.map((answer) => (answer.ok ? answer.value.observation : answer.fault))).toEqual(["a", { boundary: "sandbox", code: "sandbox.action-too-large" }, "c"]);
  expect(await cohort.step(2, "d")).toMatchObject({ ok: true });
  await cohort.close();
});

test("a turn past its deadline is not tried again", async () => {
  let steps = 0;
  const onCall = (call: string): void => {
    if (call === "step" && ++steps > 0) throw new SpadeError("sandbox.deadline", "late");
  };
  const cohort = new Cohort(fakeSandbox({ environments: echo, onCall }), program, [1]);
  await cohort.start();
  expect(await cohort.step(0, "a")).toEqual({ ok: false, fault: { boundary: "sandbox", code: "sandbox.deadline" } });
  expect(steps).toBe(1);
  await cohort.close();
});
