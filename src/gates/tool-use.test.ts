import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ObservedSandbox } from "../sandbox/pool.ts";
import { languageOf, openProgram, openTestSandbox } from "../sandbox/test-sandbox.ts";
import { defaultGates } from "./config.ts";
import { gateContext } from "./context.ts";
import { type Evidence, Rejection } from "./record.ts";
import { toolUse } from "./tool-use.ts";

let sandbox: ObservedSandbox;
beforeAll(async () => {
  sandbox = await openTestSandbox();
}, 180_000);
afterAll(() => sandbox.close());

/** The gate's evidence, or its rejection's code and message. */
async function judge(source: string): Promise<Evidence | string> {
  const handle = await openProgram(sandbox, source);
  const context = gateContext({ config: { ...defaultGates, probeSeeds: 4 }, sandbox, program: { language: languageOf(source), source }, handle, document: "", archive: [], seed: 1, clock: () => 0 });
  try {
    return await toolUse(context);
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    return `${error.code}: ${error.message}`;
  } finally {
    await handle.close();
  }
}

const good = `
import json, random

class LampsEnv(ToolUseBaseEnv):
    max_turns = 6

    def reset(self, seed=None):
        first, second = random.Random(seed).sample(["hall", "porch", "attic"], 2)
        self._plan = [first, second]
        self._state = {"lit": [], "dimmed": None}
        self._user_messages = [f"Light the {first}.", f"Now the {second}."]
        self._message_criteria = [lambda s: first in s["lit"], lambda s: second in s["lit"]]
        room = {"type": "string", "enum": ["hall", "porch", "attic"]}
        self._tools = [
            {"type": "function", "function": {"name": "light", "parameters": {"type": "object", "properties": {"room": room, "level": {"type": "integer"}}, "required": ["room"]}}},
            {"type": "function", "function": {"name": "dim", "parameters": {"type": "object", "properties": {"room": room}, "required": ["room"]}}},
        ]
        return self._begin("A house with lamps.")

    def tool_light(self, room, level=5):
        self._state["lit"].append(room)
        return "lit"

    def tool_dim(self, room):
        self._state["dimmed"] = room
        return "dimmed"

    def solution(self):
        return ["<tool_call>" + json.dumps({"name": "light", "arguments": {"room": room}}) + "</tool_call>" for room in self._plan]
`;

describe("gate tool-use", () => {
  it("admits a sound program and says what it looked at", async () => {
    expect(await judge(good)).toEqual({ seeds: 4, tools: 2, criteria: [2, 2, 2, 2] });
  });

  it.each([
    ["a criterion that raises", 'lambda s: second in s["lit"]]', 'lambda s: second in s["lamps"]]', "criterion-raises: Criterion 2 raises on seed 0 after 0 actions: KeyError: 'lamps'"],
    ["a criterion that raises later", 'lambda s: second in s["lit"]]', 'lambda s: bool(s["lit"]) and second in s["lit"] + 1]', "criterion-raises: Criterion 2 raises on seed 0 after 1 actions: TypeError"],
    ["a criterion that holds at reset", '{"lit": [],', '{"lit": [first],', "criterion-held: Criterion 1 holds at reset on seed 0"],
    ["a criterion of a wrong type", 'lambda s: second in s["lit"]]', 'lambda s: len(s["lit"]) == "2"]', "criterion-never: Criterion 2 never holds"],
    ["criteria out of order", 'lambda s: first in s["lit"], lambda s: second in s["lit"]]', 'lambda s: second in s["lit"], lambda s: first in s["lit"]]', "criterion-order"],
    ["two criteria met at once", 'lambda s: second in s["lit"]]', 'lambda s: bool(s["lit"])]', "criterion-order"],
    ["a message without a criterion", ', lambda s: second in s["lit"]]', "]", "criteria-count: 2 messages have 1 criteria"],
    ["a schema without a method", "def tool_dim", "def dim", "tool-missing: Tool dim"],
    ["a method without a schema", "    def tool_dim", "    def tool_blink(self):\n        return 1\n\n    def tool_dim", "tool-undeclared: Method tool_blink"],
    ["another parameter name", "def tool_dim(self, room)", "def tool_dim(self, place)", "tool-parameters: Tool dim declares (room) but its method takes (place)"],
    ["an optional parameter declared required", '"level": {"type": "integer"}}, "required": ["room"]', '"level": {"type": "integer"}}, "required": ["room", "level"]', "tool-required: Tool light"],
    ["a parameter of no known type", '"level": {"type": "integer"}', '"level": {"type": "int"}', "tool-type: Parameter level"],
    ["an enum of another type", '["hall", "porch", "attic"]}', "[1, 2]}", "tool-enum: Tool light"],
    ["an enum that leaves out what the solution needs", '["hall", "porch", "attic"]}', '["hall", "porch", "stairs"]}', "solution-call"],
  ] as const)("rejects %s", async (_name, from, to, verdict) => {
    expect(good).toContain(from);
    expect(await judge(good.replace(from, to))).toEqual(expect.stringContaining(verdict));
  });

  it("rejects a program whose solution needs every tool", async () => {
    const onlyLight = good.replace(/ {12}\{"type": "function", "function": \{"name": "dim".*\n/, "").replace(/ {4}def tool_dim[\s\S]*?"dimmed"\n/, "");
    expect(await judge(onlyLight)).toEqual(expect.stringContaining("no-distractor: solution() uses all but 0 of the 1 tools on seed 0"));
  });

  it("rejects a program without a goal", async () => {
    expect(await judge(good.replace(/ {8}self\._user_messages.*\n.*\n/, ""))).toEqual(expect.stringContaining("no-goal"));
  });

  it("does not concern other programs", async () => {
    expect(await judge("class A:\n    def reset(self, seed=None): return 'a'\n    def step(self, action): return 'x', 0.0, True, False, {}\n")).toHaveProperty("notApplicable");
  });
});

const typescript = `
export default class LampsEnv extends ToolUseBase {
  maxTurns = 6;

  reset(seed: number) {
    const [first, second] = new Random(seed).sample(["hall", "porch", "attic"], 2);
    this.plan = [first, second];
    this.state = { lit: [], dimmed: "" };
    this.userMessages = [\`Light the \${first}.\`, \`Now the \${second}.\`];
    this.messageCriteria = [(s) => s.lit.includes(first), (s) => s.lit.includes(second)];
    const room = { type: "string", enum: ["hall", "porch", "attic"] };
    this.schemas = [
      { type: "function", function: { name: "light", parameters: { type: "object", properties: { room, level: { type: "integer" } }, required: ["room"] } } },
      { type: "function", function: { name: "dim", parameters: { type: "object", properties: { room }, required: ["room"] } } },
    ];
    return this.begin("A house with lamps.");
  }

  tool_light({ room, level = 5 }: { room: string; level?: number }) {
    this.state.lit.push(room);
    return "lit";
  }

  tool_dim(given: { room: string }) {
    this.state.dimmed = given.room;
    return "dimmed";
  }

  solution() {
    return this.plan.map((room: string) => \`<tool_call>\${JSON.stringify({ name: "light", arguments: { room } })}</tool_call>\`);
  }
}
`;

describe("gate tool-use, TypeScript", () => {
  it("admits a sound program and says what it looked at, however it is exported", async () => {
    const evidence = { seeds: 4, tools: 2, criteria: [2, 2, 2, 2] };
    expect(await judge(typescript)).toEqual(evidence);
    expect(await judge(typescript.replace("class LampsEnv extends", "class extends"))).toEqual(evidence);
    expect(await judge(`${typescript.replace("export default class", "class")}export default LampsEnv;\n`)).toEqual(evidence);
    expect(await judge(typescript.replace("export default class", "export class"))).toEqual(evidence);
  });

  it.each([
    ["a criterion that raises", "s.lit.includes(second)]", "s.lamps.includes(second)]", "criterion-raises: Criterion 2 raises on seed 0 after 0 actions: TypeError"],
    ["a criterion that holds at reset", "lit: []", "lit: [first]", "criterion-held: Criterion 1 holds at reset on seed 0"],
    ["a criterion that never holds", "s.lit.includes(second)]", 's.lit.length === "2"]', "criterion-never: Criterion 2 never holds"],
    ["criteria out of order", "[(s) => s.lit.includes(first), (s) => s.lit.includes(second)]", "[(s) => s.lit.includes(second), (s) => s.lit.includes(first)]", "criterion-order"],
    ["a message without a criterion", ", (s) => s.lit.includes(second)]", "]", "criteria-count: 2 messages have 1 criteria"],
    ["a schema without a method", "tool_dim(", "dim(", "tool-missing: Tool dim"],
    ["a method without a schema", "  tool_dim(", "  tool_blink() {\n    return 1;\n  }\n\n  tool_dim(", "tool-undeclared: Method tool_blink"],
    ["another parameter in the head", "({ room, level = 5 }", "({ place, level = 5 }", "tool-parameters: Tool light declares (room, level) but its method takes (place, level)"],
    ["another parameter in the body", "= given.room", "= given.place", "tool-parameters: Tool dim declares (room) but its method takes (place)"],
    ["an optional parameter declared required", 'required: ["room"] } } },\n      { type', 'required: ["room", "level"] } } },\n      { type', "tool-required: Tool light"],
    ["a parameter of no known type", '{ type: "integer" }', '{ type: "int" }', "tool-type: Parameter level"],
    ["an enum of another type", '["hall", "porch", "attic"] }', "[1, 2] }", "tool-enum: Tool light"],
    ["an enum that leaves out what the solution needs", '["hall", "porch", "attic"] }', '["hall", "porch", "stairs"] }', "solution-call"],
  ] as const)("rejects %s", async (_name, from, to, verdict) => {
    expect(typescript).toContain(from);
    expect(await judge(typescript.replace(from, to))).toEqual(expect.stringContaining(verdict));
  });

  it("does not concern a program whose entry class is none of tool use", async () => {
    expect(await judge('// no ToolUseBase\nexport default class { reset() { return "a"; } step() { return { observation: "x", reward: 0, terminated: true, truncated: false }; } solution() { return ["x"]; } }')).toEqual({ notApplicable: "the entry class does not derive from ToolUseBase" });
  });
});
