import { SpadeError } from "../../../src/core/errors.ts";

/** A value of the Python subset: number, string, boolean, null, list or tuple (array), dict (Map), function. */
export type Value = unknown;

export type Callable = (args: readonly Value[], keywords: ReadonlyMap<string, Value>) => Value;

/** The guest raised `ValueError`, the only exception that the subset catches. */
export class ValueFault extends Error {}

/** Any other misuse: a fault of the generator. */
export function unsupported(what: string): never {
  throw new SpadeError("internal.python", `The demonstration program uses ${what}, which the Python subset lacks; extend models/nano/python/.`);
}

export function truthy(value: Value): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Map) return value.size > 0;
  return Boolean(value);
}

export function equal(a: Value, b: Value): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => equal(item, b[i]));
  return a === b || (typeof a === "boolean" && Number(a) === b) || (typeof b === "boolean" && Number(b) === a);
}

export function less(a: Value, b: Value): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    const i = a.findIndex((item, k) => k >= b.length || !equal(item, b[k]));
    return i === -1 ? a.length < b.length : i < b.length && less(a[i], b[i]);
  }
  return (a as number) < (b as number);
}

/** `str(value)`. */
export function str(value: Value): string {
  if (value === true) return "True";
  if (value === false) return "False";
  if (value === null || value === undefined) return "None";
  if (Array.isArray(value)) return `[${value.map((item) => (typeof item === "string" ? `'${item}'` : str(item))).join(", ")}]`;
  if (typeof value === "string") return value;
  return typeof value === "number" ? String(value) : unsupported("str of an object");
}

export function items(value: Value): readonly Value[] {
  if (Array.isArray(value)) return value as readonly Value[];
  if (typeof value === "string") return Array.from(value);
  if (value instanceof Map) return [...(value as Map<Value, Value>).keys()];
  return unsupported("iteration over a scalar");
}

export function contains(container: Value, item: Value): boolean {
  if (typeof container === "string") return container.includes(String(item));
  return items(container).some((other) => equal(other, item));
}

export function binary(op: string, a: Value, b: Value): Value {
  if (typeof a === "string" && typeof b === "string" && op === "+") return a + b;
  if (op === "*" && typeof a === "string") return a.repeat(Math.max(0, Number(b)));
  if (Array.isArray(a)) {
    if (op === "+") return [...(a as Value[]), ...(b as Value[])];
    if (op === "*") return Array.from({ length: Math.max(0, Number(b)) }, () => a as Value[]).flat();
  }
  const x = Number(a);
  const y = Number(b);
  switch (op) {
    case "+":
      return x + y;
    case "-":
      return x - y;
    case "*":
      return x * y;
    case "/":
      return x / y;
    case "//":
      return Math.floor(x / y);
    case "%":
      return ((x % y) + y) % y;
    case "**":
      return x ** y;
    default:
      return unsupported(`the operator ${op}`);
  }
}

export function compare(op: string, a: Value, b: Value): boolean {
  switch (op) {
    case "==":
      return equal(a, b);
    case "!=":
      return !equal(a, b);
    case "<":
      return less(a, b);
    case ">":
      return less(b, a);
    case "<=":
      return !less(b, a);
    case ">=":
      return !less(a, b);
    case "in":
      return contains(b, a);
    case "not in":
      return !contains(b, a);
    default:
      return unsupported(`the comparison ${op}`);
  }
}

/** A slice of a list or string with Python's defaults. */
export function slice(value: Value, from: number | undefined, to: number | undefined, by = 1): Value {
  const list = items(value);
  const n = list.length;
  const clamp = (i: number): number => Math.max(by < 0 ? -1 : 0, Math.min(i < 0 ? i + n : i, by < 0 ? n - 1 : n));
  const start = from === undefined ? (by < 0 ? n - 1 : 0) : clamp(from);
  const stop = to === undefined ? (by < 0 ? -1 : n) : clamp(to);
  const out: Value[] = [];
  for (let i = start; by > 0 ? i < stop : i > stop; i += by) out.push(list[i]);
  return typeof value === "string" ? out.join("") : out;
}
