/** A look inside a tool-use program, for gate `tool-use`; the same as the Python inspector in `gates/tool-inspector.ts`. */
import { parametersOf } from "./parameters.ts";
import { fits, isFields, type ParametersSchema, refusal, schemasByName } from "./schema.ts";
import { ToolUseBase } from "./tool-use.ts";
import { readReply } from "./tools.ts";

const { stringify } = JSON;
const kinds: ReadonlySet<unknown> = new Set(["string", "integer", "number", "boolean", "array", "object", "null"]);

/** Plays an action, unless there is none, and tells what is inside afterwards, as JSON text; `null` when the program does not derive from `ToolUseBase`. */
export function inspect(program: unknown, action?: string): string {
  if (!(program instanceof ToolUseBase)) return "null";
  const schemas = schemasByName(program.schemas);
  const calls = action === undefined ? [] : readReply(action, program.schemas).calls;
  const refusals = calls.flatMap(({ name, arguments: given }) => {
    const schema = schemas.get(name);
    const refused = schema === undefined ? `unknown tool ${name}` : refusal(given, schema);
    return refused === undefined ? [] : [`${name}: ${refused}`];
  });
  const stepError = action === undefined ? "" : errorOf(() => program.step(action));
  const tools = [...schemas].map(([name, schema]) => toolOf(program, name, schema));
  return stringify({
    tools: program.schemas.length === schemas.size ? tools : [...tools, ...tools.slice(0, 1)],
    methods: methodsOf(program),
    messages: program.userMessages.length,
    criteria: program.messageCriteria.map((criterion) => {
      let holds = false;
      const error = errorOf(() => (holds = Boolean(criterion(program.state))));
      return error === "" ? { holds } : { holds: false, error };
    }),
    expectsAnswer: ![undefined, null, ""].includes(program.expectedAnswer as string),
    called: calls.map(({ name }) => name),
    refusals,
    stepError,
  });
}

/** What a call throws, as text; empty when it throws nothing. */
function errorOf(call: () => unknown): string {
  try {
    call();
    return "";
  } catch (error) {
    const { name = "Error", message = error } = isFields(error) ? error : {};
    return `${String(name)}: ${String(message)}`;
  }
}

function toolOf(program: ToolUseBase, name: string, { properties = {}, required = [] }: ParametersSchema): object {
  const method = `tool_${name.replace(/[.-]/g, "_")}`;
  const serves = (program as unknown as Record<string, unknown>)[method];
  const types = Object.entries(properties).map(([key, rule]) => [key, isFields(rule) && kinds.has(rule["type"]) ? rule["type"] : ""] as const);
  const taken = typeof serves === "function" ? parametersOf(Function.prototype.toString.call(serves), Object.keys(properties)) : undefined;
  return {
    name,
    method,
    properties: Object.fromEntries(types),
    required,
    ...(taken === undefined ? { defaults: [] } : { signature: taken.names, defaults: taken.names.filter((key) => taken.defaults.includes(key) || !required.includes(key)) }),
    badEnum: badEnum(properties),
  };
}

function badEnum(properties: Readonly<Record<string, unknown>>): string {
  for (const [key, rule] of Object.entries(properties)) {
    if (!isFields(rule) || !Object.hasOwn(rule, "enum")) continue;
    const options = rule["enum"];
    if (!Array.isArray(options) || options.length === 0 || !options.every((option) => fits(option, rule["type"]))) return `the enum of ${key} is empty or holds values of another type`;
  }
  return "";
}

/** Names of the tool methods, of the instance and of all its classes. */
function methodsOf(program: ToolUseBase): string[] {
  const names = new Set<string>();
  for (let holder: unknown = program; isFields(holder) && holder !== (ToolUseBase.prototype as object); holder = Object.getPrototypeOf(holder)) {
    for (const name of Object.getOwnPropertyNames(holder)) if (name.startsWith("tool_") && typeof (program as unknown as Record<string, unknown>)[name] === "function") names.add(name);
  }
  return [...names].sort();
}
