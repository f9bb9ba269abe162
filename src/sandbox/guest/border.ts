import { boxed } from "./answers.ts";

/** What a program takes as its action. */
export type ActionForm = "boxed" | "tools";

/** Of a parse report: entries of each kind, and characters of one. */
const maxReportEntries = 20;
const maxReportChars = 300;

/** A value that may not cross to the host; `code` is a failure code of the contract. */
export class Refusal extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** A short text of any value, for messages. */
export function shown(value: unknown): string {
  const kind = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  if (value instanceof Promise) return "a Promise; methods must not be async";
  if (kind === "string") return JSON.stringify(String(value).slice(0, 60));
  return ["number", "boolean", "undefined", "null"].includes(kind) ? String(value) : `a value of type ${kind}`;
}

export function observationOf(value: unknown, limit: number, name = "observation"): string {
  if (typeof value !== "string") throw new Refusal("protocol", `the ${name} is ${shown(value)}; expected a string`);
  if (value.length > limit) throw new Refusal("output", `the ${name} has ${value.length} characters; at most ${limit} are allowed`);
  return value;
}

/** `{ observation, info? }` or a bare string. */
export function resetValue(value: unknown, limit: number): object {
  if (typeof value === "string") return { observation: observationOf(value, limit) };
  const { observation, info } = fields("reset", value);
  infoOf("reset", info);
  return { observation: observationOf(observation, limit) };
}

/** `{ observation, reward, terminated, truncated, info? }`. */
export function stepValue(value: unknown, limit: number): object {
  const { observation, reward, terminated, truncated, info } = fields("step", value);
  const warnings: string[] = [];
  infoOf("step", info);
  return {
    observation: observationOf(observation, limit),
    reward: rewardOf(reward, warnings),
    terminated: flag("terminated", terminated),
    truncated: flag("truncated", truncated),
    warnings,
    ...parseOf(info),
  };
}

/** The parse report in `info`, cut to a bounded size; none where there is none of the right shape. */
function parseOf(info: unknown): { readonly parse?: object } {
  const report = fieldOf(info, "parse");
  const [warnings, errors] = [fieldOf(report, "warnings"), fieldOf(report, "errors")];
  if (!Array.isArray(warnings) || !Array.isArray(errors)) return {};
  const texts = (values: readonly unknown[]): string[] => values.flatMap((text) => (typeof text === "string" ? [text.slice(0, maxReportChars)] : []));
  return { parse: { warnings: texts(warnings.slice(0, maxReportEntries)), errors: texts(errors.slice(0, maxReportEntries).map((error: unknown) => fieldOf(error, "message"))) } };
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}

/** A list of tool schemas that JSON can hold. */
export function toolsValue(value: unknown, limit: number): unknown {
  if (!Array.isArray(value) || !value.every((tool) => typeof tool === "object" && tool !== null && !Array.isArray(tool))) {
    throw new Refusal("protocol", `tools() returned ${shown(value)}; expected a list of schemas`);
  }
  const text = JSON.stringify(value);
  if (text.length > limit) throw new Refusal("output", `the tools have ${text.length} characters; at most ${limit} are allowed`);
  return JSON.parse(text);
}

/** A list of actions; one action may stand alone, numbers become text, and in a boxed game `\boxed{x}` becomes x. */
export function solutionValue(value: unknown, form: ActionForm): string[] {
  const actions: unknown = typeof value === "string" || typeof value === "number" ? [value] : value;
  if (!Array.isArray(actions)) throw new Refusal("protocol", `solution() returned ${shown(value)}; expected a list of actions`);
  return Array.from(actions, (action: unknown) => {
    if (typeof action !== "string" && typeof action !== "number") throw new Refusal("protocol", `an action of solution() is ${shown(action)}; expected text`);
    return form === "tools" ? String(action) : (boxed(String(action)) ?? String(action));
  });
}

function rewardOf(value: unknown, warnings: string[]): number {
  if (typeof value === "boolean") {
    warnings.push(`reward ${value} taken as ${Number(value)}`);
    return Number(value);
  }
  if (typeof value !== "number") throw new Refusal("protocol", `the reward is ${shown(value)}; expected a number in [-10, 10]`);
  if (!(Math.abs(value) <= 10)) throw new Refusal("protocol", `the reward is ${shown(value)}; expected a finite number in [-10, 10]`);
  return value + 0;
}

function flag(name: string, value: unknown): boolean {
  if (typeof value !== "boolean") throw new Refusal("protocol", `${name} is ${shown(value)}; expected true or false`);
  return value;
}

function infoOf(method: string, info: unknown): void {
  if (info !== undefined && (typeof info !== "object" || info === null)) throw new Refusal("protocol", `info from ${method} is ${shown(info)}; expected an object`);
}

function fields(method: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof Promise) {
    throw new Refusal("protocol", `${method} returned ${shown(value)}; expected an object with an observation`);
  }
  return value as Readonly<Record<string, unknown>>;
}
