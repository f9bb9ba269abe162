/** Arguments against schemas for TypeScript programs; the same rules as `tools.py`. */
import { BrokenText, decode, dumps } from "./json.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The parameters' schema of a tool: `properties`, `required`. */
export interface ParametersSchema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Parameter schemas by tool name; tools are OpenAI function schemas, with or without the `function` wrapper. */
export function schemasByName(tools: unknown): Map<string, ParametersSchema> {
  const found = new Map<string, ParametersSchema>();
  for (const tool of Array.isArray(tools) ? (tools as unknown[]) : []) {
    const inner = isFields(tool) ? (tool["function"] ?? tool) : undefined;
    if (isFields(inner) && typeof inner["name"] === "string") found.set(inner["name"], isFields(inner["parameters"]) ? inner["parameters"] : {});
  }
  return found;
}

/** `; did you mean ...` for a misspelt or doubled name, else empty. */
export function suggestion(name: string, known: readonly string[]): string {
  const half = name.slice(0, Math.floor(name.length / 2));
  const close = known.includes(half) && half + half === name ? half : closest(name, known);
  return close === undefined ? "" : `; did you mean ${close}?`;
}

/** The known name most like this one, if it is like it: twice the characters in common are at least 0.6 of all. */
function closest(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestRatio = 0.6;
  for (const candidate of known) {
    const total = name.length + candidate.length;
    if (total === 0 || (2 * Math.min(name.length, candidate.length)) / total < bestRatio) continue;
    const ratio = (2 * inCommon(candidate, name)) / total;
    if (ratio < bestRatio || (ratio === bestRatio && best !== undefined && candidate <= best)) continue;
    [best, bestRatio] = [candidate, ratio];
  }
  return best;
}

/** Characters in the longest common piece, and in those to its left and right. */
function inCommon(a: string, b: string): number {
  let [length, endA, endB] = [0, 0, 0];
  let row = new Uint32Array(b.length + 1);
  for (let i = 0; i < a.length; i++) {
    const next = new Uint32Array(b.length + 1);
    for (let j = 0; j < b.length; j++) {
      const run = a[i] === b[j] ? (row[j] ?? 0) + 1 : 0;
      next[j + 1] = run;
      if (run > length) [length, endA, endB] = [run, i + 1, j + 1];
    }
    row = next;
  }
  if (length === 0) return 0;
  return length + inCommon(a.slice(0, endA - length), b.slice(0, endB - length)) + inCommon(a.slice(endA), b.slice(endB));
}

/** Whether a value is of a JSON schema type; unknown types fit anything. */
export function fits(value: unknown, kind: unknown): boolean {
  if (Array.isArray(kind)) return kind.some((one) => fits(value, one));
  switch (kind) {
    case "integer":
      return Number.isInteger(value);
    case "number":
    case "string":
    case "boolean":
      return typeof value === kind;
    case "array":
      return Array.isArray(value);
    case "object":
      return isFields(value);
    case "null":
      return value === null;
    default:
      return true;
  }
}

const integerText = /^[+-]?\d{1,300}$/;
const numberText = /^[+-]?(\d{1,300}(\.\d*)?|\.\d+)(e[+-]?\d{1,2})?$/i;

/** The value as its schema type wants it where its text allows; otherwise as it was. */
export function coerce(value: unknown, kind: unknown): unknown {
  if (fits(value, kind)) return value;
  if (kind === "string" && (typeof value === "number" || typeof value === "boolean")) return dumps(value);
  if (typeof value !== "string") return value;
  const text = value.trim();
  if (kind === "integer" && integerText.test(text)) return Number(text);
  if (kind === "number" && numberText.test(text)) return Number(text);
  if (kind === "boolean" && /^(?:true|false)$/i.test(text)) return text.toLowerCase() === "true";
  if (kind !== "array" && kind !== "object") return value;
  try {
    const decoded = decode(text);
    return fits(decoded, kind) ? decoded : value;
  } catch (error) {
    if (error instanceof BrokenText) return value;
    throw error;
  }
}

/** Why a schema does not admit these arguments: unknown, missing, of a wrong type, outside an enum. */
export function refusal(values: Fields, { properties = {}, required = [] }: ParametersSchema): string | undefined {
  for (const key of Object.keys(values)) {
    if (!Object.hasOwn(properties, key)) return `unknown parameter ${key}${suggestion(key, Object.keys(properties))}`;
  }
  for (const key of required) if (!Object.hasOwn(values, key)) return `parameter ${key} is required`;
  for (const [key, value] of Object.entries(values)) {
    const rule = properties[key];
    if (!isFields(rule)) continue;
    if (!fits(value, rule["type"])) return `parameter ${key} is ${dumps(value).slice(0, 80)}; expected ${String(rule["type"])}`;
    const options = rule["enum"];
    if (Array.isArray(options) && !options.some((option) => dumps(option) === dumps(value))) return `parameter ${key} is ${dumps(value).slice(0, 80)}; expected one of ${dumps(options)}`;
  }
  return undefined;
}
