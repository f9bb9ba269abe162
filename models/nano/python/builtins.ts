import type { Callable, Value } from "./values.ts";
import { PythonRandom } from "./random.ts";
import { contains, equal, items, less, str, truthy, unsupported, ValueFault } from "./values.ts";

const one = (keywords: ReadonlyMap<string, Value>): ((item: Value) => Value) => {
  const key = keywords.get("key") as Callable | undefined;
  return key === undefined ? (item) => item : (item) => key([item], new Map());
};

function best(sign: 1 | -1): Callable {
  return (args, keywords) => {
    const key = one(keywords);
    const list = args.length === 1 ? items(args[0]) : args;
    return list.reduce((a, b) => ((sign === 1 ? less(key(a), key(b)) : less(key(b), key(a))) ? b : a));
  };
}

function sort(list: readonly Value[], keywords: ReadonlyMap<string, Value>): Value[] {
  const key = one(keywords);
  const sign = truthy(keywords.get("reverse")) ? -1 : 1;
  return [...list].sort((a, b) => sign * (less(key(a), key(b)) ? -1 : less(key(b), key(a)) ? 1 : 0));
}

function range(args: readonly Value[]): number[] {
  const [a = 0, b, step = 1] = args as number[];
  const [low, high] = b === undefined ? [0, a] : [a, b];
  return Array.from({ length: Math.max(0, Math.ceil((high - low) / step)) }, (_, i) => low + i * step);
}

function int(value: Value): number {
  if (typeof value !== "string") return Math.trunc(Number(value));
  if (!/^\s*[+-]?\d+\s*$/.test(value)) throw new ValueFault(value);
  return Number(value);
}

/** The built-in functions of the subset. */
export const builtins: ReadonlyMap<string, Callable> = new Map<string, Callable>([
  ["len", ([value]) => items(value).length],
  ["sum", ([list]) => (items(list) as number[]).reduce((a, b) => a + b, 0)],
  ["max", best(1)],
  ["min", best(-1)],
  ["abs", ([value]) => Math.abs(Number(value))],
  ["int", ([value]) => int(value)],
  ["str", ([value]) => str(value)],
  ["list", ([value]) => [...items(value)]],
  ["range", (args) => range(args)],
  ["sorted", ([list], keywords) => sort(items(list), keywords)],
  ["reversed", ([list]) => [...items(list)].reverse()],
  ["enumerate", ([list, from = 0]) => items(list).map((item, i) => [i + Number(from), item])],
  ["zip", (lists) => Array.from({ length: Math.min(...lists.map((list) => items(list).length)) }, (_, i) => lists.map((list) => items(list)[i]))],
  ["map", ([f, list]) => items(list).map((item) => (f as Callable)([item], new Map()))],
  ["dict", ([pairs]) => new Map(items(pairs) as [Value, Value][])],
  ["any", ([list]) => items(list).some(truthy)],
  ["all", ([list]) => items(list).every(truthy)],
]);

/** A method of a built-in value. */
export function method(object: Value, name: string): Callable {
  if (object instanceof PythonRandom) return randomMethod(object, name);
  if (typeof object === "string") return stringMethod(object, name);
  if (Array.isArray(object)) return listMethod(object, name);
  if (object instanceof Map) return dictMethod(object as Map<Value, Value>, name);
  return unsupported(`the attribute ${name}`);
}

function randomMethod(random: PythonRandom, name: string): Callable {
  switch (name) {
    case "randint":
      return ([low, high]) => random.randint(Number(low), Number(high));
    case "randrange":
      return (args) => random.choice(range(args));
    case "choice":
      return ([list]) => random.choice(items(list));
    case "sample":
      return ([list, count]) => random.sample(items(list), Number(count));
    case "shuffle":
      return ([list]) => random.shuffle(list as unknown[]);
    default:
      return unsupported(`random.${name}`);
  }
}

function stringMethod(text: string, name: string): Callable {
  switch (name) {
    case "strip":
      return () => text.trim();
    case "lower":
      return () => text.toLowerCase();
    case "split":
      return ([separator]) => (separator === undefined ? text.split(/\s+/).filter((part) => part !== "") : text.split(str(separator)));
    case "replace":
      return ([from, to]) => text.replaceAll(str(from), str(to));
    case "join":
      return ([list]) => items(list).map(str).join(text);
    case "startswith":
      return ([prefix]) => text.startsWith(str(prefix));
    case "isdigit":
      return () => /^\d+$/.test(text);
    default:
      return unsupported(`str.${name}`);
  }
}

function listMethod(list: Value[], name: string): Callable {
  switch (name) {
    case "append":
      return ([item]) => void list.push(item);
    case "insert":
      return ([at, item]) => void list.splice(Number(at), 0, item);
    case "remove":
      return ([item]) => void list.splice(list.findIndex((other) => equal(other, item)), 1);
    case "index":
      return ([item]) => list.findIndex((other) => equal(other, item));
    case "count":
      return ([item]) => list.filter((other) => equal(other, item)).length;
    case "pop":
      return ([at = -1]) => list.splice(Number(at), 1)[0];
    case "sort":
      return (_, keywords) => void list.splice(0, list.length, ...sort(list, keywords));
    case "reverse":
      return () => void list.reverse();
    default:
      return unsupported(`list.${name}`);
  }
}

function dictMethod(dict: Map<Value, Value>, name: string): Callable {
  switch (name) {
    case "items":
      return () => [...dict.entries()];
    case "keys":
      return () => [...dict.keys()];
    case "values":
      return () => [...dict.values()];
    case "get":
      return ([key, otherwise = null]) => (contains(dict, key) ? dict.get(key) : otherwise);
    default:
      return unsupported(`dict.${name}`);
  }
}
