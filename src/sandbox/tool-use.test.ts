import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ObservedSandbox } from "./pool.ts";
import type { InstanceId, ProgramHandle, StepValue } from "./sandbox.ts";
import { createOne, openProgram, openTestSandbox, valueOf } from "./test-sandbox.ts";

let sandbox: ObservedSandbox;

beforeAll(async () => {
  sandbox = await openTestSandbox();
});
afterAll(() => sandbox.close());

interface Reading {
  readonly calls: readonly { readonly name: string; readonly arguments: unknown }[];
  readonly answer: string | null;
  readonly report: { readonly warnings: readonly string[]; readonly errors: readonly { readonly code: string; readonly message: string }[] };
}

/** Facts of the project's shared cases (`toolCalls`), and further inputs of each kind. */
const cases: readonly { id: string; text: string; schema?: Record<string, string>; calls: readonly [string, unknown][]; warnings?: number; errors?: number; answer?: string }[] = [
  { id: "T1 nested arguments", text: '<tool_call>{"name":"set_cfg","arguments":{"opts":{"retry":{"max":3}}}}</tool_call>', calls: [["set_cfg", { opts: { retry: { max: 3 } } }]] },
  { id: "T2 braces and a tag in a string", text: `<tool_call>{"name":"sh","arguments":{"cmd":"mkdir -p a/{b,c && echo '</tool_call>' }}"}}</tool_call>`, calls: [["sh", { cmd: "mkdir -p a/{b,c && echo '</tool_call>' }}" }]] },
  { id: "T3a two objects", text: '<tool_call>{"name":"list_notes","arguments":{"tag":"x"}}{"name":"list_notes","arguments":{"tag":"y"}}</tool_call>', calls: [["list_notes", { tag: "x" }], ["list_notes", { tag: "y" }]] },
  { id: "T3b an array", text: '<tool_call>[{"name":"a","arguments":{}},{"name":"b","arguments":{"k":1}}]</tool_call>', calls: [["a", {}], ["b", { k: 1 }]] },
  {
    id: "T4 coercion by schema",
    schema: { zip: "string", n: "integer", when: "integer", ok: "boolean" },
    text: "<tool_call><function=t><parameter=zip>02134</parameter><parameter=n>7</parameter><parameter=when>2026-01-15</parameter><parameter=ok>True</parameter></function></tool_call>",
    calls: [["t", { zip: "02134", n: 7, when: "2026-01-15", ok: true }]],
    warnings: 1,
  },
  { id: "T5a no arguments", text: '<tool_call>{"name":"ping"}</tool_call>', calls: [["ping", {}]] },
  { id: "T5b parameters", text: '<tool_call>{"name":"put","parameters":{"k":"a"}}</tool_call>', calls: [["put", { k: "a" }]], warnings: 1 },
  { id: "T5c null arguments", text: '<tool_call>{"name":"put","arguments":null}</tool_call>', calls: [["put", {}]] },
  { id: "T5d arguments as text", text: '<tool_call>{"name":"put","arguments":"{\\"k\\":\\"a\\"}"}</tool_call>', calls: [["put", { k: "a" }]] },
  { id: "T5e a number for a name", text: '<tool_call>{"name":7,"arguments":{}}</tool_call>', calls: [], errors: 1 },
  { id: "a dotted name", text: "<tool_call><function=api.get><parameter=id>5</parameter></function></tool_call>", calls: [["api.get", { id: "5" }]] },
  { id: "a call in a think block", text: '<think>maybe <tool_call>{"name":"rm","arguments":{}}</tool_call></think>I look. <tool_call>{"name":"ls","arguments":{}}</tool_call>', calls: [["ls", {}]] },
  { id: "a think block opened in the prompt", text: '<tool_call>{"name":"rm"}</tool_call> no.</think><tool_call>{"name":"ls"}</tool_call>', calls: [["ls", {}]], warnings: 1 },
  { id: "a think block that never ends", text: '<think><tool_call>{"name":"rm"}</tool_call><answer>5</answer>', calls: [] },
  { id: "a think tag in a string", text: '<tool_call>{"name":"say","arguments":{"text":"<think>{"}}</tool_call><answer>4</answer>', calls: [["say", { text: "<think>{" }]], answer: "4" },
  { id: "a cut block", text: '<tool_call>{"name":"ls","arguments":{"path":"/ho', calls: [], errors: 1 },
  { id: "a block cut after its object", text: '<tool_call>{"name":"ls"}', calls: [["ls", {}]], warnings: 1 },
  { id: "a bad block before a good one", text: '<tool_call>ls please</tool_call><tool_call>{"name":"ls"}</tool_call>', calls: [["ls", {}]], errors: 1 },
  { id: "text types stay text", schema: { a: "string", b: "string", c: "string" }, text: "<tool_call><function=t><parameter=a>12345</parameter><parameter=b>true</parameter><parameter=c>1e5</parameter></function></tool_call>", calls: [["t", { a: "12345", b: "true", c: "1e5" }]] },
  { id: "a closing tag in an XML value", text: "<tool_call><function=t><parameter=a>x</parameter>y\n</parameter></function></tool_call>", calls: [["t", { a: "x</parameter>y" }]] },
  { id: "objects in XML", schema: { a: "object", b: "array" }, text: '<tool_call><function=t><parameter=a>{"k":{"m":1}}</parameter><parameter=b>[1,2]</parameter></function></tool_call>', calls: [["t", { a: { k: { m: 1 } }, b: [1, 2] }]] },
  { id: "NaN is no JSON", text: '<tool_call>{"name":"t","arguments":{"a":NaN}}</tool_call>', calls: [], errors: 1 },
  { id: "the last answer counts", text: "<answer>1</answer> no, <answer> 2 </answer>", calls: [], answer: "2" },
  { id: "a deep argument", text: `<tool_call>{"name":"t","arguments":{"a":${"[".repeat(1900)}`, calls: [], errors: 1 },
  { id: "a deep argument that closes", text: `<tool_call>{"name":"ls"}</tool_call><tool_call>{"name":"t","arguments":{"a":${"[".repeat(60)}${"]".repeat(60)}, "b": }}</tool_call>`, calls: [["ls", {}]], errors: 1 },
  { id: "a very deep argument", text: `<tool_call>{"name":"t","arguments":{"a":${"[".repeat(5000)}`, calls: [], errors: 1 },
];

describe("the parser", () => {
  let handle: ProgramHandle;
  let instance: InstanceId;
  beforeAll(async () => {
    handle = await openProgram(
      sandbox,
      `import json, spade_tools
class Reader:
    def reset(self, seed): return "ready"
    def step(self, action):
        text, schema = json.loads(action)
        tools = [{"type": "function", "function": {"name": "t", "parameters": {"properties": {k: {"type": v} for k, v in schema.items()}}}}]
        calls, answer, report = spade_tools.read_reply(text, tools)
        return json.dumps({"calls": calls, "answer": answer, "report": report}), 0.0, False, False, {}
`,
    );
    instance = (await createOne(handle, 0)).instance;
  });

  test.each(cases)("$id", async ({ text, schema = {}, calls, warnings = 0, errors = 0, answer = null }) => {
    const { observation } = valueOf((await handle.step([{ instance, action: JSON.stringify([text, schema]) }]))[0]);
    const reading = JSON.parse(observation) as Reading;
    expect(reading.calls).toEqual(calls.map(([name, values]) => ({ name, arguments: values })));
    expect(reading.answer).toBe(answer);
    expect([reading.report.warnings.length, reading.report.errors.length], observation).toEqual([warnings, errors]);
    expect(reading.report.errors.every(({ code }) => code === "parse")).toBe(true);
  });
});

const desk = (rest: string): string => `
class DeskEnv(ToolUseBaseEnv):
    def reset(self, seed=None):
        self._state = {"open": True, "log": []}
        self._tools = [
            {"type": "function", "function": {"name": "close_desk", "description": "Closes", "parameters": {"type": "object", "properties": {
                "hour": {"type": "integer"}, "kind": {"type": "string", "enum": ["now", "later"]}}, "required": ["hour"]}}},
            {"type": "function", "function": {"name": "read.log", "parameters": {"type": "object", "properties": {}}}},
        ]
${rest}
        return self._begin("A desk.")
    def tool_close_desk(self, hour, kind="now"):
        if hour == 13: raise ValueError("not at lunch")
        self._state["open"] = False
        self._state["log"].append(hour)
        return {"closed": hour, "kind": kind}
    def tool_read_log(self):
        return self._state["log"]
`;
const expecting = (answer: string): string => desk(`        self._expected_answer = ${answer}`);
const messages = desk(`        self._user_messages = ["Close the desk.", "Close it again at 5."]
        self._message_criteria = [lambda s: not s["open"], lambda s: s["log"][-1:] == [5]]`);

/** Steps of a fresh instance of a program. */
async function play(source: string, actions: readonly string[]): Promise<StepValue[]> {
  const handle = await openProgram(sandbox, source);
  const { instance } = await createOne(handle, 0);
  const steps: StepValue[] = [];
  for (const action of actions) steps.push(valueOf((await handle.step([{ instance, action }]))[0]));
  await handle.close();
  return steps;
}

const call = (name: string, values: Record<string, unknown> = {}): string => `<tool_call>${JSON.stringify({ name, arguments: values })}</tool_call>`;

describe("ToolUseBaseEnv", () => {
  test("dispatches in order, coerces, and tells results and errors", async () => {
    const [both, xml, lunch] = await play(expecting("'5'"), [
      call("close_desk", { hour: "4" }) + call("read.log"),
      "<tool_call><function=close_desk><parameter=hour>7</parameter><parameter=kind>later</parameter></function></tool_call>",
      call("close_desk", { hour: 13 }),
    ]);
    expect(both?.observation).toBe('close_desk: {"closed": 4, "kind": "now"}\nread.log: [4]');
    expect(xml?.observation).toBe('close_desk: {"closed": 7, "kind": "later"}');
    expect(lunch?.observation).toContain("ValueError: not at lunch");
  });

  test.each([
    ["an unknown tool", call("close_deskclose_desk", { hour: 1 }), "unknown tool close_deskclose_desk; did you mean close_desk?"],
    ["a missing argument", call("close_desk"), "parameter hour is required"],
    ["an unknown argument", call("close_desk", { hour: 1, our: 2 }), "unknown parameter our; did you mean hour?"],
    ["a value outside the enum", call("close_desk", { hour: 1, kind: "never" }), "expected one of"],
    ["a value of a wrong type", call("close_desk", { hour: "noon" }), "expected integer"],
    ["no call", "I shall close it.", "no tool call"],
    ["a broken call", "<tool_call>{</tool_call>", "Unreadable"],
  ])("%s never reaches a tool", async (_name, action, complaint) => {
    const [first, log] = await play(expecting("'5'"), [action, call("read.log")]);
    expect(first?.observation).toContain(complaint);
    expect(log?.observation).toBe("read.log: []");
  });

  test.each([
    ["'5'", "<answer>5</answer>", 1],
    ["'5'", "<answer>5.0</answer>", 1],
    ["0.5", "<answer>\\frac12</answer>", 1],
    ["'5'", "<answer>6</answer>", 0],
    ["None", "<answer>None</answer>", 0],
    ["''", "<answer></answer>", 0],
  ])("expected %s, answer %s: %s", async (expected, action, reward) => {
    const [step] = await play(expecting(expected), [action]);
    expect([step?.reward, step?.terminated]).toEqual([reward, true]);
  });

  test("reveals messages one at a time and ends with the last", async () => {
    const steps = await play(messages, ["<answer>done</answer>", call("close_desk", { hour: 4 }), call("read.log"), call("close_desk", { hour: 5 })]);
    expect(steps.map(({ reward, terminated }) => [reward, terminated])).toEqual([[0, false], [0, false], [0, false], [1, true]]);
    expect(steps[0]?.observation).toContain("still open: Close the desk.");
    expect(steps[1]?.observation).toContain("User: Close it again at 5.");
  });

  test("counts turns, anew after each reset, and truncates at the limit", async () => {
    const handle = await openProgram(sandbox, expecting("'5'").replace("    def reset", "    max_turns = 2\n    def reset"));
    const { instance } = await createOne(handle, 0);
    const step = async (): Promise<boolean> => valueOf((await handle.step([{ instance, action: "" }]))[0]).truncated;
    expect([await step(), await step()]).toEqual([false, true]);
    await handle.reset([{ instance, seed: 1 }]);
    expect([await step(), await step()]).toEqual([false, true]);
    expect(handle.facts.maxTurns).toBe(2);
    await handle.close();
  });
});
