import { describe, expect, it } from "vitest";
import { actionIn, actionReader } from "./action.ts";
import { observationOf } from "./renderer.ts";
import { asToolCallBlocks, readToolCalls } from "./tool-calls.ts";

interface Case {
  readonly id: string;
  readonly text: string;
  readonly schema?: Readonly<Record<string, string>>;
  readonly calls: readonly (readonly [name: string, values: unknown])[];
  readonly warnings?: number;
  readonly errors?: number;
}

/** The inputs of the project's shared cases (`toolCalls`), with the stated results. */
const hermes: readonly Case[] = [
  { id: "T1 nested arguments", text: '<tool_call>{"name":"set_cfg","arguments":{"opts":{"retry":{"max":3}}}}</tool_call>', calls: [["set_cfg", { opts: { retry: { max: 3 } } }]] },
  { id: "T2 braces and a closing tag in a string", text: `<tool_call>{"name":"sh","arguments":{"cmd":"mkdir -p a/{b,c && echo '</tool_call>' }}"}}</tool_call>`, calls: [["sh", { cmd: "mkdir -p a/{b,c && echo '</tool_call>' }}" }]] },
  { id: "T3a two objects in a block", text: '<tool_call>{"name":"list_notes","arguments":{"tag":"x"}}{"name":"list_notes","arguments":{"tag":"y"}}</tool_call>', calls: [["list_notes", { tag: "x" }], ["list_notes", { tag: "y" }]] },
  { id: "T3b an array of calls", text: '<tool_call>[{"name":"a","arguments":{}},{"name":"b","arguments":{"k":1}}]</tool_call>', calls: [["a", {}], ["b", { k: 1 }]] },
  {
    id: "T4 coercion by schema in the XML form",
    schema: { zip: "string", n: "integer", when: "integer", ok: "boolean" },
    text: "<tool_call><function=ship><parameter=zip>02134</parameter><parameter=n>7</parameter><parameter=when>2026-01-15</parameter><parameter=ok>True</parameter></function></tool_call>",
    calls: [["ship", { zip: "02134", n: 7, when: "2026-01-15", ok: true }]],
    warnings: 1,
  },
  { id: "T5a no arguments", text: '<tool_call>{"name":"ping"}</tool_call>', calls: [["ping", {}]] },
  { id: "T5b parameters", text: '<tool_call>{"name":"put","parameters":{"k":"a"}}</tool_call>', calls: [["put", { k: "a" }]], warnings: 1 },
  { id: "T5c null arguments", text: '<tool_call>{"name":"put","arguments":null}</tool_call>', calls: [["put", {}]] },
  { id: "T5d arguments as a JSON string", text: '<tool_call>{"name":"put","arguments":"{\\"k\\":\\"a\\"}"}</tool_call>', calls: [["put", { k: "a" }]] },
  { id: "T5e a name that is no text", text: '<tool_call>{"name":7,"arguments":{}}</tool_call>', calls: [], errors: 1 },
  { id: "a dotted name", schema: { id: "string" }, text: "<tool_call><function=api.get><parameter=id>5</parameter></function></tool_call>", calls: [["api.get", { id: "5" }]] },
  { id: "a call in a think block", text: '<think>maybe <tool_call>{"name":"rm","arguments":{}}</tool_call></think>I will look first. <tool_call>{"name":"ls","arguments":{}}</tool_call>', calls: [["ls", {}]] },
  { id: "a cut-off block", text: '<tool_call>{"name":"ls","arguments":{"path":"/ho', calls: [], errors: 1 },
  { id: "several blocks", text: '<tool_call>\n{"name": "a", "arguments": {}}\n</tool_call>\n<tool_call>\n{"name": "b", "arguments": {}}\n</tool_call>', calls: [["a", {}], ["b", {}]] },
  { id: "a good block behind a broken one", text: '<tool_call>{"name": ls}</tool_call><tool_call>{"name":"b"}</tool_call>', calls: [["b", {}]], errors: 1 },
  { id: "none", text: "I would rather not.", calls: [] },
  { id: "Llama's form is no call here", text: '{"name":"ls","parameters":{}}', calls: [] },
];

const llama3: readonly Case[] = [
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

function toolsOf({ schema }: Case): object[] {
  const properties = Object.fromEntries(Object.entries(schema ?? {}).map(([key, type]) => [key, { type }]));
  return schema === undefined ? [] : ["ship", "api.get"].map((name) => ({ type: "function", function: { name, parameters: { type: "object", properties } } }));
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
