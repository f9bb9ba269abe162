import type { Expr, Loop, Stmt } from "./syntax.ts";
import type { Callable, Value } from "./values.ts";
import { builtins, method } from "./builtins.ts";
import { binary, compare, items, slice, str, truthy, unsupported, ValueFault } from "./values.ts";

/** An object of the program's class: its attributes and how its methods are looked up. */
export interface Instance {
  readonly attributes: Map<string, Value>;
  readonly methods: ReadonlyMap<string, (self: Instance) => Callable>;
}

/** Names of one function call. */
export type Scope = Map<string, Value>;

type Flow = { readonly kind: "next" | "break" | "continue" } | { readonly kind: "return"; readonly value: Value };

const next: Flow = { kind: "next" };
const maxLoopTurns = 10_000;

function isInstance(value: Value): value is Instance {
  return typeof value === "object" && value !== null && "attributes" in value;
}

/** Makes a callable of a `def`; `record` receives the names of each call when it ends. */
export function defineMethod(def: Stmt & { kind: "def" }, record?: (scope: Scope) => void): (self: Instance) => Callable {
  return (self) => (args) => {
    const scope: Scope = new Map([["self", self]]);
    def.parameters.slice(1).forEach((name, i) => scope.set(name, args[i] ?? null));
    const flow = run(def.body, scope);
    record?.(scope);
    return flow.kind === "return" ? flow.value : null;
  };
}

function run(body: readonly Stmt[], scope: Scope): Flow {
  for (const statement of body) {
    const flow = execute(statement, scope);
    if (flow.kind !== "next") return flow;
  }
  return next;
}

function execute(statement: Stmt, scope: Scope): Flow {
  switch (statement.kind) {
    case "expression":
      evaluate(statement.value, scope);
      return next;
    case "assign": {
      const value = evaluate(statement.value, scope);
      for (const target of statement.targets) assign(target, value, scope);
      return next;
    }
    case "augment":
      assign(statement.target, binary(statement.op, evaluate(statement.target, scope), evaluate(statement.value, scope)), scope);
      return next;
    case "if":
      return run(truthy(evaluate(statement.test, scope)) ? statement.body : statement.orelse, scope);
    case "for":
      return loop([...items(evaluate(statement.iterable, scope))], statement, scope);
    case "while":
      return repeat(statement, scope);
    case "return":
      return { kind: "return", value: statement.value === undefined ? null : evaluate(statement.value, scope) };
    case "try":
      return attempt(statement, scope);
    case "pass":
      return next;
    case "break":
    case "continue":
      return { kind: statement.kind };
    case "def":
    case "class":
      return unsupported("a nested definition");
  }
}

function loop(list: readonly Value[], statement: Stmt & { kind: "for" }, scope: Scope): Flow {
  for (const item of list) {
    assign(statement.target, item, scope);
    const flow = run(statement.body, scope);
    if (flow.kind === "return") return flow;
    if (flow.kind === "break") break;
  }
  return next;
}

function repeat(statement: Stmt & { kind: "while" }, scope: Scope): Flow {
  for (let turn = 0; truthy(evaluate(statement.test, scope)); turn++) {
    if (turn > maxLoopTurns) return unsupported("a loop without end");
    const flow = run(statement.body, scope);
    if (flow.kind === "return") return flow;
    if (flow.kind === "break") break;
  }
  return next;
}

function attempt(statement: Stmt & { kind: "try" }, scope: Scope): Flow {
  try {
    return run(statement.body, scope);
  } catch (error) {
    if (error instanceof ValueFault) return run(statement.handler, scope);
    throw error;
  }
}

function assign(target: Expr, value: Value, scope: Scope): void {
  if (target.kind === "name") scope.set(target.id, value);
  else if (target.kind === "attribute") (evaluate(target.object, scope) as Instance).attributes.set(target.name, value);
  else if (target.kind === "index") assignIndex(evaluate(target.object, scope), evaluate(target.index, scope), value);
  else if (target.kind === "tuple" || target.kind === "list") {
    const list = items(value);
    if (list.length !== target.items.length) throw new ValueFault("unpack");
    target.items.forEach((item, i) => assign(item, list[i], scope));
  } else unsupported(`assignment to ${target.kind}`);
}

function assignIndex(object: Value, index: Value, value: Value): void {
  if (object instanceof Map) object.set(index, value);
  else (object as Value[])[position(object, index)] = value;
}

function position(object: Value, index: Value): number {
  const i = Number(index);
  const n = items(object).length;
  const at = i < 0 ? i + n : i;
  return at < n && at >= 0 ? at : unsupported("an index out of range");
}

function optional(expr: Expr | undefined, scope: Scope): number | undefined {
  return expr === undefined ? undefined : Number(evaluate(expr, scope));
}

/** Value of an expression. */
export function evaluate(expr: Expr, scope: Scope): Value {
  switch (expr.kind) {
    case "constant":
      return expr.value;
    case "format":
      return expr.parts.map((part) => (typeof part === "string" ? part : str(evaluate(part, scope)))).join("");
    case "name":
      return scope.has(expr.id) ? scope.get(expr.id) : (builtins.get(expr.id) ?? unsupported(`the name ${expr.id}`));
    case "attribute":
      return attribute(evaluate(expr.object, scope), expr.name);
    case "call":
      return call(expr, scope);
    case "index":
      return at(evaluate(expr.object, scope), evaluate(expr.index, scope));
    case "slice":
      return slice(evaluate(expr.object, scope), optional(expr.from, scope), optional(expr.to, scope), optional(expr.by, scope));
    case "list":
    case "tuple":
      return expr.items.map((item) => evaluate(item, scope));
    case "dict":
      return new Map(expr.entries.map(([key, value]) => [evaluate(key, scope), evaluate(value, scope)]));
    case "binary":
      return binary(expr.op, evaluate(expr.left, scope), evaluate(expr.right, scope));
    case "compare":
      return chain(expr, scope);
    case "logic":
      return truthy(evaluate(expr.left, scope)) === (expr.op === "or") ? evaluate(expr.left, scope) : evaluate(expr.right, scope);
    case "unary":
      return expr.op === "not" ? !truthy(evaluate(expr.operand, scope)) : -Number(evaluate(expr.operand, scope));
    case "conditional":
      return evaluate(truthy(evaluate(expr.test, scope)) ? expr.yes : expr.no, scope);
    case "comprehension":
      return comprehension(expr, scope);
    case "lambda":
      return (args: readonly Value[]) => evaluate(expr.body, new Map([...scope, ...expr.parameters.map((name, i): [string, Value] => [name, args[i]])]));
  }
}

function attribute(object: Value, name: string): Value {
  if (!isInstance(object)) return method(object, name);
  if (object.attributes.has(name)) return object.attributes.get(name);
  return object.methods.get(name)?.(object) ?? unsupported(`the attribute ${name}`);
}

function call(expr: Expr & { kind: "call" }, scope: Scope): Value {
  const callee = evaluate(expr.callee, scope) as Callable;
  const keywords = new Map([...expr.keywords].map(([name, value]) => [name, evaluate(value, scope)]));
  return callee(expr.args.map((arg) => evaluate(arg, scope)), keywords) ?? null;
}

function at(object: Value, index: Value): Value {
  if (object instanceof Map) return object.has(index) ? object.get(index) : unsupported("a missing key");
  return items(object)[position(object, index)];
}

function chain(expr: Expr & { kind: "compare" }, scope: Scope): boolean {
  let left = evaluate(expr.first, scope);
  for (const [op, operand] of expr.rest) {
    const right = evaluate(operand, scope);
    if (!compare(op, left, right)) return false;
    left = right;
  }
  return true;
}

function comprehension(expr: Expr & { kind: "comprehension" }, scope: Scope): Value {
  const out: Value[] = [];
  const inner: Scope = new Map(scope);
  const visit = (loops: readonly Loop[]): void => {
    const [first, ...rest] = loops;
    if (first === undefined) {
      const element = evaluate(expr.element, inner);
      out.push(expr.value === undefined ? element : [element, evaluate(expr.value, inner)]);
      return;
    }
    for (const item of items(evaluate(first.iterable, inner))) {
      assign(first.target, item, inner);
      if (first.conditions.every((condition) => truthy(evaluate(condition, inner)))) visit(rest);
    }
  };
  visit(expr.loops);
  return expr.value === undefined ? out : new Map(out as [Value, Value][]);
}
