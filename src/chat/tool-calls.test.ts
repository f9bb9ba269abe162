import { describe, expect, it } from "vitest";
import { type ToolCallCase, toolCallCases } from "../sandbox/testing/guest-cases.ts";
import { actionIn, actionReader } from "./action.ts";
import { observationOf } from "./renderer.ts";
import { asToolCallBlocks, readToolCalls } from "./tool-calls.ts";

/** The guests' cases, which a reply must pass here too, and further ones. */
const hermes: readonly ToolCallCase[] = [
  ...toolCallCases,
  { id: "a dotted name with a schema", schema: { id: "string" }, text: "<tool_call><function=api.get><parameter=id>5</parameter></function></tool_call>", calls: [["api.get", { id: "5" }]] },
  { id: "several blocks", text: '<tool_call>\n{"name": "a", "arguments": {}}\n</tool_call>\n<tool_call>\n{"name": "b", "arguments": {}}\n</tool_call>', calls: [["a", {}], ["b", {}]] },
  { id: "a good block behind a broken one", text: '<tool_call>{"name": ls}</tool_call><tool_call>{"name":"b"}</tool_call>', calls: [["b", {}]], errors: 1 },
  { id: "none", text: "I would rather not.", calls: [] },
  { id: "Llama's form is no call here", text: '{"name":"ls","parameters":{}}', calls: [] },
];

const llama3: readonly ToolCallCase[] = [
  { id: "a bare object", text: '{"name": "get", "parameters": {"id": 5}}', calls: [["get", { id: 5 }]], warnings: 1 },
  { id: "with arguments, in spaces", text: ' \n{"name": "get", "arguments": {"id": 5}}\n', calls: [["get", { id: 5 }]] },
  { id: "behind the tag", text: '<|python_tag|>{"name": "get", "parameters": {}}', calls: [["get", {}]], warnings: 1 },
  { id: "behind words and the tag", text: 'I look it up. <|python_tag|>{"name": "get", "parameters": {}}', calls: [["get", {}]], warnings: 1 },
  { id: "several, with semicolons", text: '{"name": "a", "parameters": {"k": "x;y"}}; {"name": "b", "parameters": {}}', calls: [["a", { k: "x;y" }], ["b", {}]], warnings: 2 },
  { id: "an array", text: '[{"name": "a", "parameters": {}}, {"name": "b", "arguments": {}}]', calls: [["a", {}], ["b", {}]], warnings: 1 },
  { id: "nested, with braces in strings", text: '{"name": "sh", "parameters": {"cmd": "echo {}}</tool_call>", "env": {"a": {"b": [1]}}}}', calls: [["sh", { cmd: "echo {}}</tool_call>", env: { a: { b: [1] } } }]], warnings: 1 },
  { id: "the function wrapper", text: '{"type": "function", "function": {"name": "get", "parameters": {"id": 5}}}', calls: [["get", { id: 5 }]], warnings: 1 },
  { id: "coercion by schema", schema: { id: "integer" }, text: '{"name": "ship", "parameters": {"id": "5"}}', calls: [["ship", { id: 5 }]], warnings: 1 },
  { id: "cut off", text: '{"name": "get", "parameters": {"path": "/ho', calls: [], errors: 1 },
  { id: "cut off behind a brace", text: '{"name": "get", "parameters": {"a": {}', calls: [], errors: 1 },
  { id: "the second one cut off", text: '{"name": "a", "arguments": {}}; {"name": "b", "argu', calls: [["a", {}]], errors: 1 },
  { id: "malformed", text: '{name: "get"}', calls: [], errors: 1 },
  { id: "no name", text: '{"parameters": {}}', calls: [], errors: 1 },
  { id: "words after it", text: '{"name": "a", "arguments": {}} and so on', calls: [["a", {}]], errors: 1 },
  { id: "Hermes blocks are read too", text: '<tool_call>{"name": "a"}</tool_call>', calls: [["a", {}]] },
  { id: "words", text: "The answer is {5}.", calls: [] },
];

function toolsOf({ schema }: ToolCallCase): object[] {
  const properties = Object.fromEntries(Object.entries(schema ?? {}).map(([key, type]) => [key, { type }]));
  return schema === undefined ? [] : ["ship", "t", "api.get"].map((name) => ({ type: "function", function: { name, parameters: { type: "object", properties } } }));
}

describe.each([["hermes", hermes], ["llama3", llama3]] as const)("%s", (format, cases) => {
  it.each(cases)("$id", (given) => {
    const { calls, report } = readToolCalls(given.text, { format, tools: toolsOf(given) });
    expect(calls.map(({ name, arguments: values }) => [name, values])).toEqual(given.calls);
    // A reply of the shared cases that was repaired may tell so; one whose count is stated must tell exactly that often.
    expect(report.errors).toHaveLength(given.errors ?? 0);
    expect(report.warnings).toHaveLength(given.warnings ?? 0);
  });
});

describe("actions", () => {
  it("reach a tool-use program in the form it reads, whatever the model writes", () => {
    const bare = '{"name": "get", "parameters": {}}';
    expect(actionReader("llama3")(bare, "tools")).toBe(`<tool_call>${bare}</tool_call>`);
    expect(actionReader("hermes")(bare, "tools")).toBe(bare);
    expect(asToolCallBlocks("<answer>5</answer>")).toBe("<answer>5</answer>");
    expect(actionReader("llama3")("{\\boxed{5}}", "boxed")).toBe("5");
  });

  it.each([
    ["<think>\\boxed{1}?</think>so \\boxed{2}", "2"],
    ["\\boxed{1}?</think>so \\boxed{2}", "2"],
    ["<think>\\boxed{1}</think>no", undefined],
    ["<think>\\boxed{1}", undefined],
    ["\\boxed{1}, wait <think>\\boxed{2}", "1"],
    ["\\boxed{1}", "1"],
  ])("of a boxed game do not stand in thoughts: %j", (response, action) => expect(actionIn(response, "boxed")).toBe(action));
});

it("takes what a program says to a readable call for a tool's result, and all else for the user's words", () => {
  const parse = { warnings: [], errors: [] };
  const role = (turn: Parameters<typeof observationOf>[0]): string => observationOf(turn, "x").role;
  const call = '<tool_call>{"name":"ls"}</tool_call>';
  expect(role({ action: call, parse })).toBe("tool");
  expect(role({ action: call })).toBe("user");
  expect(role({ action: "<answer>5</answer>", parse })).toBe("user");
  expect(role({ action: `<think>${call}</think>no`, parse })).toBe("user");
  expect(role({ parse })).toBe("user");
});
