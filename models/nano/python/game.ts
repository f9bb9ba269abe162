import { SpadeError } from "../../../src/core/errors.ts";
import type { Instance, Scope } from "./interpreter.ts";
import type { Callable, Value } from "./values.ts";
import { defineMethod } from "./interpreter.ts";
import { parseProgram } from "./parser.ts";
import { PythonRandom } from "./random.ts";
import { skeleton } from "./syntax.ts";
import { items, str, truthy } from "./values.ts";

/** One answer of `step`. */
export interface Step {
  readonly observation: string;
  readonly won: boolean;
  readonly ended: boolean;
}

/** Names a working may read: locals of the last `reset` and attributes. */
export type State = ReadonlyMap<string, Value>;

const defaultMaxTurns = 25;

/**
 * Plays our own demonstration programs by interpreting their source, so that demonstrated observations cannot differ
 * from the program's. Model-written programs never come here: they run in the sandbox.
 */
export class Game {
  /** Text of the syntax tree without identifiers and constants. */
  readonly skeleton: string;
  private readonly instance: Instance;
  private locals: Scope = new Map();
  private turn = 0;

  constructor(source: string) {
    const [program] = parseProgram(source);
    if (program?.kind !== "class") throw new SpadeError("internal.python", "A demonstration program must be one class.");
    this.skeleton = skeleton(program);
    const methods = new Map<string, (self: Instance) => Callable>(this.base());
    const attributes = new Map<string, Value>([["max_turns", defaultMaxTurns]]);
    for (const statement of program.body) {
      if (statement.kind === "def") methods.set(statement.name, defineMethod(statement, statement.name === "reset" ? (scope) => (this.locals = scope) : undefined));
      if (statement.kind === "assign" && statement.value.kind === "constant") {
        const [target] = statement.targets;
        if (target?.kind === "name") attributes.set(target.id, statement.value.value);
      }
    }
    this.instance = { attributes, methods };
  }

  /** The first observation. */
  reset(seed: number): string {
    return str(this.call("reset", [seed]));
  }

  step(action: string): Step {
    return this.call("step", [action]) as Step;
  }

  /** Actions that win from the state after `reset`. */
  solution(): string[] {
    return items(this.call("solution", [])).map(str);
  }

  get maxTurns(): number {
    return Number(this.instance.attributes.get("max_turns"));
  }

  /** Locals of the last `reset` and the attributes now. */
  get state(): State {
    return new Map([...this.locals, ...this.instance.attributes]);
  }

  private call(name: string, args: readonly Value[]): Value {
    const found = this.instance.methods.get(name);
    if (found === undefined) throw new SpadeError("internal.python", `The demonstration program lacks ${name}.`);
    return found(this.instance)(args, new Map());
  }

  private base(): [string, (self: Instance) => Callable][] {
    const end = (won: boolean, observation: string): Step => ({ observation, won, ended: true });
    return [
      ["start", () => ([seed]) => {
        this.turn = 0;
        return new PythonRandom(Number(seed));
      }],
      ["show", () => ([text]) => text],
      ["tell", () => ([text]) => {
        this.turn++;
        return { observation: str(text), won: false, ended: this.turn >= this.maxTurns } satisfies Step;
      }],
      ["judge", () => ([action, answer]) => end(same(str(action), answer), "")],
      ["finish", () => ([won, text]) => end(truthy(won), text === undefined ? "" : str(text))],
    ];
  }
}

/** Whether an action states an answer: as a number, a word in any case, or a comma or space separated list. */
export function same(action: string, answer: Value): boolean {
  if (Array.isArray(answer)) {
    const parts = action.split(/[\s,]+/).filter((part) => part !== "");
    return parts.length === answer.length && answer.every((item, i) => same(parts[i] ?? "", item));
  }
  const text = action.trim();
  if (typeof answer === "number") return text !== "" && Number(text) === answer;
  return text.toLowerCase() === str(answer).trim().toLowerCase();
}
