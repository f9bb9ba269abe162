/**
 * Guest side of the sandbox for TypeScript: holds one program with at most one instance, and answers one request at a
 * time, as JSON text. Runs inside QuickJS. Nothing here is a security boundary: the boundary is the import gate of the
 * host; everything this module says is data to the host.
 */
import { boxed, same } from "./answers.ts";
import { type ActionForm, observationOf, Refusal, resetValue, shown, solutionValue, stepValue, toolsValue } from "./border.ts";
import { inspect } from "./inspect.ts";
import { parse as parseAnswer, verify } from "./latex.ts";
import { Random } from "./random.ts";
import { TextGame } from "./text-game.ts";
import { ToolUseBase } from "./tool-use.ts";

interface Environment {
  reset(seed: number): unknown;
  step(action: string): unknown;
  readonly solution?: unknown;
  readonly hint?: unknown;
  readonly tools?: unknown;
  readonly maxTurns?: unknown;
  readonly max_turns?: unknown;
}

type Entry = (new () => Environment) & { readonly maxTurns?: unknown };

interface Request {
  readonly op: "describe" | "create" | "reset" | "step" | "solution" | "about";
  readonly arg?: number | string;
}

/** Taken before any program runs. */
const { parse, stringify } = JSON;

let limits = { maxObservationChars: 0, maxOutputBytes: 0 };
let entry: { readonly name: string; readonly create: Entry } | undefined;
let instance: Environment | undefined;
let printed = 0;
/** What `Math.random` draws from. */
let source = new Random(0);

Object.defineProperty(Math, "random", { value: () => source.random(), writable: true, configurable: true, enumerable: false });
const print = (...values: unknown[]): void => {
  for (const value of values) printed += typeof value === "string" ? value.length + 1 : 16;
  if (printed > limits.maxOutputBytes) throw new Refusal("output", "a call printed more than it may");
};
Object.assign(globalThis, { TextGame, ToolUseBase, Random, same, boxed, parse: parseAnswer, verify, console: { log: print, info: print, warn: print, error: print, debug: print } });

// For gate `tool-use`; a program cannot put another in its place.
Object.defineProperty(globalThis, "spadeInspect", { value: inspect });

/** Sets the limits, once, before there is a program. */
export function configure(text: string): string {
  limits = parse(text) as typeof limits;
  return "";
}

/** Takes over the program's module: its namespace, or what it threw. */
export function adopt(isFulfilled: number, value: unknown): string {
  return answer(() => {
    if (isFulfilled !== 1) throw value;
    entry = findEntry(value as Readonly<Record<string, unknown>>);
    return null;
  });
}

/** One request, one reply, both JSON. */
export function dispatch(text: string): string {
  return answer(() => handle(parse(text) as Request));
}

function answer(act: () => unknown): string {
  printed = 0;
  try {
    const value = act();
    if (printed > limits.maxOutputBytes) throw new Refusal("output", "a call printed more than it may");
    return stringify({ ok: true, value });
  } catch (error) {
    const code = error instanceof Refusal ? error.code : "raise";
    return stringify({ ok: false, failure: { code, message: code === "raise" ? describe(error) : (error as Refusal).message } });
  }
}

function handle({ op, arg }: Request): unknown {
  switch (op) {
    case "describe":
      return facts();
    case "create":
      source = new Random(Number(arg));
      instance = new (known().create)();
      return resetValue(instance.reset(Number(arg)), limits.maxObservationChars);
    case "reset":
      source = new Random(Number(arg));
      return resetValue(live().reset(Number(arg)), limits.maxObservationChars);
    case "step":
      return stepValue(live().step(String(arg)), limits.maxObservationChars);
    case "solution":
      return solution(live());
    case "about":
      return about(live());
  }
}

function facts(): object {
  const { name, create } = known();
  const made = new create();
  const turns = made.maxTurns ?? made.max_turns ?? create.maxTurns;
  return { entry: name, hasSolution: typeof made.solution === "function", actionForm: formOf(made), ...(Number.isInteger(turns) ? { maxTurns: turns } : {}) };
}

function solution(environment: Environment): string[] {
  const { solution: solve } = environment;
  if (typeof solve !== "function") throw new Refusal("protocol", "the program has no solution()");
  return solutionValue((solve as () => unknown).call(environment), formOf(environment));
}

function about(environment: Environment): object {
  const { hint, tools } = environment;
  return {
    ...(typeof hint === "function" ? { hint: observationOf((hint as () => unknown).call(environment), limits.maxObservationChars, "hint") } : {}),
    ...(typeof tools === "function" ? { tools: toolsValue((tools as () => unknown).call(environment), limits.maxObservationChars) } : {}),
  };
}

/** Programs that derive from `ToolUseBase` take whole replies, others the content of a box. */
function formOf(environment: Environment): ActionForm {
  return environment instanceof ToolUseBase ? "tools" : "boxed";
}

function known(): { readonly name: string; readonly create: Entry } {
  if (entry === undefined) throw new Refusal("protocol", "no program is loaded");
  return entry;
}

function live(): Environment {
  if (instance === undefined) throw new Refusal("protocol", "the instance was not created");
  return instance;
}

/** The default export if it is an environment, else the last exported environment, one whose name ends in Env or Game first. */
function findEntry(exports: Readonly<Record<string, unknown>>): { readonly name: string; readonly create: Entry } {
  const names = Object.keys(exports).filter((name) => isEnvironment(exports[name]));
  const chosen = names.includes("default") ? "default" : (names.findLast((name) => /(?:Env|Game)$/.test(name)) ?? names.at(-1));
  if (chosen === undefined) throw new Refusal("protocol", "no class with reset and step is exported; expected `export default class`");
  const create = exports[chosen] as Entry;
  return { name: create.name === "" ? chosen : create.name, create };
}

function isEnvironment(value: unknown): value is Entry {
  if (typeof value !== "function") return false;
  const { prototype } = value as { prototype?: Partial<Environment> };
  return typeof prototype?.reset === "function" && typeof prototype.step === "function";
}

/** Type, message and line of whatever a program threw; reading it may run the program's code, and may fail. */
function describe(error: unknown): string {
  try {
    if (!(error instanceof Error)) return `threw ${shown(error)}`;
    const line = /\benvironment:(\d+)/.exec(String(error.stack))?.[1];
    return `${error.name}: ${error.message}`.slice(0, 400) + (line === undefined ? "" : ` (line ${line})`);
  } catch {
    return "an error without text";
  }
}
