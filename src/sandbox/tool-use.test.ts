import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ObservedSandbox } from "./pool.ts";
import type { InstanceId, ProgramHandle, StepValue } from "./sandbox.ts";
import { readReply } from "./guest/tools.ts";
import { toolCallCases } from "./testing/guest-cases.ts";
import { createOne, openProgram, openTestSandbox, valueOf } from "./test-sandbox.ts";

let sandbox: ObservedSandbox;

beforeAll(async () => {
  sandbox = await openTestSandbox();
});
afterAll(() => sandbox.close());

interface Reading {
  readonly calls: readonly { readonly name: string; readonly arguments: unknown }[];
  readonly answer?: string | null;
  readonly report: { readonly warnings: readonly string[]; readonly errors: readonly { readonly code: string; readonly message: string }[] };
}

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

  const readers: Readonly<Record<string, (text: string, schema: Readonly<Record<string, string>>) => Promise<Reading>>> = {
    python: async (text, schema) => JSON.parse(valueOf((await handle.step([{ instance, action: JSON.stringify([text, schema]) }]))[0]).observation) as Reading,
    typescript: (text, schema) => {
      const properties = Object.fromEntries(Object.entries(schema).map(([key, type]) => [key, { type }]));
      return Promise.resolve(readReply(text, [{ type: "function", function: { name: "t", parameters: { properties } } }]));
    },
  };

  describe.each(Object.entries(readers))("in %s", (_language, read) => {
    test.each(toolCallCases)("$id", async ({ text, schema = {}, calls, warnings = 0, errors = 0, answer = null }) => {
      const reading = await read(text, schema);
      expect(reading.calls).toEqual(calls.map(([name, values]) => ({ name, arguments: values })));
      expect(reading.answer ?? null).toBe(answer);
      expect([reading.report.warnings.length, reading.report.errors.length], JSON.stringify(reading)).toEqual([warnings, errors]);
      expect(reading.report.errors.every(({ code }) => code === "parse")).toBe(true);
    });
  });

  test("both languages repair and refuse in the same words", async () => {
    for (const { text, schema = {}, id } of toolCallCases.filter(({ id }) => !id.startsWith("a deep argument") && !/NaN|a cut block/.test(id))) {
      const [python, typescript] = [await readers["python"]?.(text, schema), await readers["typescript"]?.(text, schema)];
      expect(typescript?.report, id).toEqual(python?.report);
    }
  });
});

/** The same desk in both languages, given what it expects. */
interface Desk {
  readonly expecting: (answer: string) => string;
  readonly messages: string;
}

const pythonDesk = (rest: string): string => `
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
const typescriptDesk = (rest: string): string => `
export default class Desk extends ToolUseBase {
  reset(seed: number) {
    this.state = { open: true, log: [] };
    this.schemas = [
      { type: "function", function: { name: "close_desk", description: "Closes", parameters: { type: "object", properties: {
        hour: { type: "integer" }, kind: { type: "string", enum: ["now", "later"] } }, required: ["hour"] } } },
      { type: "function", function: { name: "read.log", parameters: { type: "object", properties: {} } } },
    ];
    ${rest}
    return this.begin("A desk.");
  }
  tool_close_desk({ hour, kind = "now" }: any) {
    if (hour === 13) throw new RangeError("not at lunch");
    this.state.open = false;
    this.state.log.push(hour);
    return { closed: hour, kind };
  }
  tool_read_log() { return this.state.log; }
}
`;
const desks: Readonly<Record<string, Desk>> = {
  python: {
    expecting: (answer) => pythonDesk(`        self._expected_answer = ${answer}`),
    messages: pythonDesk(`        self._user_messages = ["Close the desk.", "Close it again at 5."]
        self._message_criteria = [lambda s: not s["open"], lambda s: s["log"][-1:] == [5]]`),
  },
  typescript: {
    expecting: (answer) => typescriptDesk(`this.expectedAnswer = ${answer === "None" ? "null" : answer};`),
    messages: typescriptDesk(`this.userMessages = ["Close the desk.", "Close it again at 5."];
    this.messageCriteria = [(s) => !s.open, (s) => s.log.at(-1) === 5];`),
  },
};

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

describe.each(Object.entries(desks))("the base of tool-use programs in %s", (language, { expecting, messages }) => {
  test("dispatches in order, coerces, and tells results and errors", async () => {
    const [both, xml, lunch] = await play(expecting("'5'"), [
      call("close_desk", { hour: "4" }) + call("read.log"),
      "<tool_call><function=close_desk><parameter=hour>7</parameter><parameter=kind>later</parameter></function></tool_call>",
      call("close_desk", { hour: 13 }),
    ]);
    expect(both?.observation).toBe('close_desk: {"closed": 4, "kind": "now"}\nread.log: [4]');
    expect(xml?.observation).toBe('close_desk: {"closed": 7, "kind": "later"}');
    expect(lunch?.observation).toMatch(/^close_desk: error: (?:Value|Range)Error: not at lunch$/);
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
    const handle = await openProgram(sandbox, expecting("'5'").replace(/^ *(?:def )?reset\(/m, language === "python" ? "    max_turns = 2\n$&" : "  maxTurns = 2;\n$&"));
    const { instance } = await createOne(handle, 0);
    const step = async (): Promise<boolean> => valueOf((await handle.step([{ instance, action: "" }]))[0]).truncated;
    expect([await step(), await step()]).toEqual([false, true]);
    await handle.reset([{ instance, seed: 1 }]);
    expect([await step(), await step()]).toEqual([false, true]);
    expect(handle.facts.maxTurns).toBe(2);
    await handle.close();
  });

  test("has a solution of whole replies, boxes in them included", async () => {
    const solution = language === "python" ? "    def solution(self): return [r'<answer>\\boxed{5}</answer>']\n$&" : "  solution() { return [String.raw`<answer>\\boxed{5}</answer>`]; }\n$&";
    const handle = await openProgram(sandbox, expecting("'5'").replace(/^ *(?:def )?tool_read_log\(/m, solution));
    const { instance } = await createOne(handle, 0);
    const [action = ""] = valueOf((await handle.solution([instance]))[0]);
    expect(action).toBe("<answer>\\boxed{5}</answer>");
    expect(valueOf((await handle.step([{ instance, action }]))[0]).reward).toBe(1);
    await handle.close();
  });

  test("tells its hint and its tools, checked at the border", async () => {
    const extended = (body: string): string => expecting("'5'").replace(/^ *(?:def )?tool_read_log\(/m, (line) => `${body}\n${line}`);
    const handle = await openProgram(sandbox, extended(language === "python" ? "    def hint(self): return 'Ask the log.'" : "  hint() { return 'Ask the log.'; }"));
    const { instance } = await createOne(handle, 0);
    const about = valueOf((await handle.about([instance]))[0]);
    expect(about.hint).toBe("Ask the log.");
    expect(about.tools?.map((tool) => (tool["function"] as { readonly name: string }).name)).toEqual(["close_desk", "read.log"]);
    await handle.close();
    const bad = await openProgram(sandbox, extended(language === "python" ? "    def get_tools(self): return [{'name': self.hint}]\n    def hint(self): return 'x'" : "  tools() { return [3]; }"));
    const [result] = await bad.about([(await createOne(bad, 0)).instance]);
    expect(result).toMatchObject({ ok: false, failure: { code: "protocol", message: expect.stringMatching(/tools/) as string } });
    await bad.close();
  });

  test("is named by the facts and leaves a parse report with each step", async () => {
    const handle = await openProgram(sandbox, expecting("'5'"));
    expect(handle.facts.actionForm).toBe("tools");
    const { instance, observation } = await createOne(handle, 0);
    expect(observation).toContain('{"description": "Closes", "name": "close_desk"');
    const reports: unknown[] = [];
    for (const action of [call("read.log"), "<tool_call>ls</tool_call>", `<tool_call>{"name":"read.log","input":{}}</tool_call>${"<tool_call></tool_call>".repeat(50)}`]) {
      reports.push(valueOf((await handle.step([{ instance, action }]))[0]).parse);
    }
    expect(reports[0]).toEqual({ warnings: [], errors: [] });
    expect(reports[1]).toEqual({ warnings: [], errors: [expect.stringContaining("expected a JSON object or <function=NAME>, found 'ls")] });
    expect(reports[2]).toEqual({ warnings: ["read.log: input read as arguments"], errors: Array.from({ length: 20 }, () => "a tool call block is empty") });
    await handle.close();
  });
});

test("a boxed game keeps its form, whatever it mentions, and a report of another shape stays behind", async () => {
  const handle = await openProgram(
    sandbox,
    `class Game(TextGame):
    """Not a ToolUseBaseEnv."""
    def reset(self, seed): return self.show("go")
    def step(self, action): return "x", 0.0, False, False, {"parse": {"warnings": [1, "w"], "errors": "none" if action == "odd" else []}}
    def solution(self): return ["\\\\boxed{4}"]
`,
  );
  expect(handle.facts.actionForm).toBe("boxed");
  const { instance } = await createOne(handle, 0);
  expect(valueOf((await handle.step([{ instance, action: "odd" }]))[0]).parse).toBeUndefined();
  expect(valueOf((await handle.step([{ instance, action: "" }]))[0]).parse).toEqual({ warnings: ["w"], errors: [] });
  expect(valueOf((await handle.solution([instance]))[0])).toEqual(["4"]);
  expect(valueOf((await handle.about([instance]))[0])).toEqual({});
  await handle.close();
});
