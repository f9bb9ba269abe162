import { describe, expect, it } from "vitest";
import { extractProgram } from "./extract.ts";
import { fence } from "./prompts.ts";

const source = "class A:\n    pass\n";

function taken(text: string): string | undefined {
  const extraction = extractProgram(text);
  return extraction.ok ? extraction.program.source : undefined;
}

describe("extractProgram", () => {
  it("reads back what the designer's format writes", () => expect(taken(fence(source))).toBe(source));

  it.each(["```python\r\nclass A:\r\n    pass\r\n```\r\n", "```py\nclass A:\n    pass\n```", "text\n```Python\nclass A:\n    pass\n```\nmore", "```\nclass A:\n    pass\n```"])(
    "accepts %j",
    (text) => expect(taken(text)).toBe(source),
  );

  it("keeps fences inside docstrings, indented or not", () => {
    const body = 'class A:\n    """Say\n```\nx\n```\n    """\n    note = "# \'\'\' "  # it\'s """\n    pass\n';
    expect(taken(`\`\`\`python\n${body}\`\`\``)).toBe(body);
  });

  it("takes the last complete block, of the language", () => {
    expect(taken("```python\nclass Draft: pass\n```\n```python\nclass A:\n    pass\n```\n```text\nnot code\n```")).toBe(source);
    expect(taken("```python\nclass A:\n    pass\n```\n```python\nclass B:")).toBe(source);
  });

  it.each([
    ["no code at all", "no-block"],
    ["```text\nhello\n```", "no-block"],
    ["```python\nclass A:", "unclosed"],
    ['```python\n"""\n```', "unclosed"],
    ["```python\n\n```", "empty"],
    ["", "no-block"],
  ])("rejects %j as %s", (text, code) => expect(extractProgram(text)).toMatchObject({ ok: false, code }));

  it("offers doubled braces for a box in an f-string, and nothing when there is none", () => {
    const slip = extractProgram('```python\nx = f"{n}: answer in \\boxed{}"\ny = "\\boxed{}"\n```');
    expect(slip.ok && slip.repairs.map((repair) => repair.program.source)).toEqual(['x = f"{n}: answer in \\boxed{{}}"\ny = "\\boxed{}"\n']);
    expect(extractProgram(fence(source))).toMatchObject({ repairs: [] });
  });

  it("takes the last TypeScript block when asked for one, with apostrophes and unbalanced quotes in it", () => {
    const game = "// it's \"\"\" a game\nexport default class A {}\n";
    const reply = `\`\`\`python\nclass A: pass\n\`\`\`\n\`\`\`ts\n${game}\`\`\`\n\`\`\`text\nx\n\`\`\``;
    expect(extractProgram(reply, "typescript")).toEqual({ ok: true, program: { language: "typescript", source: game }, repairs: [] });
    expect(extractProgram("```python\nclass A: pass\n```", "typescript")).toMatchObject({ ok: false, code: "no-block", message: expect.stringContaining("```typescript") as string });
    expect(extractProgram("```typescript\nclass A {", "typescript")).toMatchObject({ ok: false, code: "unclosed" });
  });
});
