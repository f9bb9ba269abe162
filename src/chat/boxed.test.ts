import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boxedAction, lastBoxed } from "./boxed.ts";

const cases: readonly { id: string; text: string; content: string | null; plain?: string }[] = [
  {
    id: "T6a",
    text: "first I thought \\boxed{\\frac{1}{3}}, final \\boxed{\\left\\{\\frac{1}{2},\\{3\\}\\right\\}}",
    content: "\\left\\{\\frac{1}{2},\\{3\\}\\right\\}",
  },
  { id: "T6b", text: "\\boxed{\\text{E}}", content: "\\text{E}", plain: "E" },
  { id: "T6c", text: "\\boxed{12", content: null },
  { id: "T6d", text: "\\boxed{{1,2},{3,4}}", content: "{1,2},{3,4}" },
  { id: "T6e", text: "not \\boxed{3} but \\boxed{5}", content: "5" },
  { id: "T6f", text: "escaped brace \\boxed{a\\{b}", content: "a\\{b" },
  { id: "T6g", text: "\\boxed{}", content: "" },
  { id: "T6h", text: "spaces \\boxed  {go north}", content: "go north" },
  { id: "complete before incomplete", text: "\\boxed{5} or \\boxed{6", content: "5" },
  { id: "inner of an incomplete box", text: "\\boxed{so \\boxed{7}", content: "7" },
  { id: "nested boxes are one answer", text: "\\boxed{\\boxed{7}}", content: "\\boxed{7}", plain: "7" },
  { id: "line break before a brace", text: "\\boxed{a\\\\{b}}", content: "a\\\\{b}" },
  { id: "a style of a part is kept", text: "\\boxed{\\text{a}+\\text{b}}", content: "\\text{a}+\\text{b}", plain: "\\text{a}+\\text{b}" },
  { id: "no braces", text: "\\boxed 5", content: null },
  { id: "other command", text: "\\boxedx{5}", content: null },
  { id: "stray closing braces", text: "} \\boxed{5} }", content: "5" },
];

describe("lastBoxed", () => {
  it.each(cases)("$id", ({ text, content, plain }) => {
    const boxed = lastBoxed(text);
    expect(boxed?.content ?? null).toBe(content);
    if (plain !== undefined) expect(boxed?.plain).toBe(plain);
  });

  it("finds any balanced content behind any text without a later box", () => {
    const balanced = fc.letrec<{ node: string }>((tie) => ({
      node: fc.oneof({ maxDepth: 4 }, fc.stringMatching(/^[a-z0-9 ,]*$/), fc.tuple(tie("node"), tie("node")).map(([a, b]) => `{${a}}${b}`)),
    })).node;
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z {}]*$/), balanced, fc.stringMatching(/^[a-z {}]*$/), (before, content, after) => {
        expect(lastBoxed(`${before}\\boxed{${content}}${after}`)?.content).toBe(content);
      }),
    );
  });

  it("is linear in the number of unclosed boxes", () => {
    expect(boxedAction("\\boxed{".repeat(50_000) + "1}")).toBe("1");
  });
});
