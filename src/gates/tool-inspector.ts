import type { Program } from "../core/environment.ts";
import { codeMatches, spliced } from "./code-mask.ts";
import { Rejection } from "./record.ts";

/** What a tool's schema and its method say. */
export interface Tool {
  readonly name: string;
  /** Name of the method that serves it. */
  readonly method: string;
  /** JSON schema type by parameter; empty when there is none that is known. */
  readonly properties: Readonly<Record<string, string>>;
  readonly required: readonly string[];
  /** Parameters of the method; absent when there is no such method. */
  readonly signature?: readonly string[];
  /** Parameters that have a default. */
  readonly defaults: readonly string[];
  /** What is wrong with an enum; empty when nothing is. */
  readonly badEnum: string;
}

/** One look at a tool-use environment. */
export interface Look {
  readonly tools: readonly Tool[];
  readonly methods: readonly string[];
  readonly messages: number;
  readonly expectsAnswer: boolean;
  readonly criteria: readonly { readonly holds: boolean; readonly error?: string }[];
  /** Tools called by the action before the look, and why their schemas refuse a call. */
  readonly called: readonly string[];
  readonly refusals: readonly string[];
  /** What the action before the look raised; empty when nothing. */
  readonly stepError: string;
}

/** The action that only looks. */
export const describe = "\u0001look";

/**
 * The program with one more class, its new entry, that plays it and shows what is inside: it forwards every action to the
 * program and returns a `Look` as JSON. So that inspection needs nothing but the program's usual contract. `entry` names
 * the program's own class.
 */
export function inspector({ language, source }: Program, entry: string): Program {
  return { language, source: language === "python" ? `${source}\n\n${pythonInspector.replaceAll("ENTRY", entry)}` : typescriptInspector(source, entry) };
}

/** What tells that a program may be one of tool use, before it is run. */
export const toolBases: Readonly<Record<Program["language"], string>> = { python: "ToolUseBaseEnv", typescript: "ToolUseBase" };

/** The default export becomes a plain declaration; `spadeInspect` is `sandbox/guest/inspect.ts`. */
function typescriptInspector(source: string, entry: string): string {
  const [exported] = codeMatches(source, "typescript", /\bexport\s+default\s+(?:class\b(?:\s+(?!extends\b)[\w$]+)?)?/g);
  const declared = exported?.text.replace(/^export\s+default\s+/, "") ?? "";
  const anonymous = declared === "class";
  const plain = exported === undefined ? source : spliced(source, exported, anonymous ? "class SpadeEntry" : declared === "" ? "void " : declared);
  return `${plain}
export default class SpadeToolInspectorEnv {
  reset(seed) {
    this.inner = new ${anonymous ? "SpadeEntry" : entry}();
    this.inner.reset(seed);
    return { observation: "ready" };
  }
  step(action) {
    return { observation: spadeInspect(this.inner, action === "\\u0001look" ? undefined : action), reward: 0, terminated: false, truncated: false };
  }
}
`;
}

const pythonInspector = `
class SpadeToolInspectorEnv:
    def reset(self, seed=None):
        self.inner = ENTRY()
        self.inner.reset(seed=seed)
        return "ready", {}

    def step(self, action):
        import json
        import inspect
        import spade_tools
        inner, called, refusals, step_error = self.inner, [], [], ""
        if not isinstance(inner, ToolUseBaseEnv):
            return "null", 0.0, False, False, {}
        schemas = spade_tools.schemas_by_name(inner._tools)
        if action != "\\x01look":
            for call in spade_tools.read_reply(action, inner._tools)[0]:
                called.append(call["name"])
                refused = spade_tools.refusal(call["arguments"], schemas[call["name"]]) if call["name"] in schemas else "unknown tool " + call["name"]
                if refused:
                    refusals.append(call["name"] + ": " + refused)
            try:
                inner.step(action)
            except Exception as error:
                step_error = type(error).__name__ + ": " + str(error)
        criteria = []
        for criterion in inner._message_criteria:
            try:
                criteria.append({"holds": bool(criterion(inner._state))})
            except Exception as error:
                criteria.append({"holds": False, "error": type(error).__name__ + ": " + str(error)})
        tools = [self.tool(name, schema, inspect) for name, schema in schemas.items()]
        if len(inner._tools) != len(schemas):
            tools += tools[:1]
        methods = [name for name in dir(inner) if name.startswith("tool_") and callable(getattr(inner, name))]
        look = {
            "tools": tools, "methods": methods, "messages": len(inner._user_messages), "criteria": criteria,
            "expectsAnswer": inner._expected_answer not in (None, ""), "called": called, "refusals": refusals, "stepError": step_error,
        }
        return json.dumps(look, default=str), 0.0, False, False, {}

    def tool(self, name, schema, inspect):
        import spade_tools
        properties = schema.get("properties") or {}
        kinds = ("string", "integer", "number", "boolean", "array", "object", "null")
        types = {key: rule.get("type") if isinstance(rule, dict) and rule.get("type") in kinds else "" for key, rule in properties.items()}
        method = "tool_" + name.replace(".", "_").replace("-", "_")
        found = {"name": name, "method": method, "properties": types, "required": list(schema.get("required") or ()), "defaults": [], "badEnum": ""}
        serves = getattr(self.inner, method, None)
        parameters = inspect.signature(serves).parameters if callable(serves) else None
        if parameters is not None:
            found["signature"] = [key for key, p in parameters.items() if p.kind is not p.VAR_POSITIONAL]
            found["defaults"] = [key for key, p in parameters.items() if p.default is not p.empty]
        for key, rule in properties.items():
            if not isinstance(rule, dict) or "enum" not in rule:
                continue
            options = rule["enum"]
            if not isinstance(options, (list, tuple)) or not options or not all(spade_tools.fits(option, rule.get("type")) for option in options):
                found["badEnum"] = "the enum of " + key + " is empty or holds values of another type"
            elif parameters and key in parameters and parameters[key].default not in (parameters[key].empty, None) and parameters[key].default not in options:
                found["badEnum"] = "the default of " + key + " is outside its enum"
        return found
`;

/** A look out of the inspector's text; undefined when the program is no tool-use program. @throws Rejection when it is malformed. */
export function readLook(text: string, seed: number): Look | undefined {
  try {
    const look = JSON.parse(text) as Look | null;
    if (look === null) return undefined;
    if ([look.tools, look.methods, look.criteria, look.called, look.refusals].every((part) => Array.isArray(part))) return look;
  } catch {
    // Judged below, like any other malformed look.
  }
  throw new Rejection("protocol", `The program cannot be inspected on seed ${seed}; its tools and criteria must be plain values.`, { seed });
}
