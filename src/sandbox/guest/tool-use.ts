import { same } from "./answers.ts";
import { shown } from "./border.ts";
import { dumps } from "./json.ts";
import { parse, verify } from "./latex.ts";
import { isFields, refusal, schemasByName, suggestion } from "./schema.ts";
import type { Shown, Stepped } from "./text-game.ts";
import { readReply, type ToolCall } from "./tools.ts";

/**
 * Base of tool-use programs, the same as `ToolUseBaseEnv` in `tool_use.py`. It owns `step`: runs the tool calls of a reply,
 * reads its `<answer>`, counts turns. A subclass defines `reset(seed)` and `tool_<name>(args)`. `reset` sets `schemas` (OpenAI
 * function schemas), `state`, and either `expectedAnswer` or `userMessages` with `messageCriteria` (one predicate over the
 * state per message; messages are revealed one at a time), and may end with `return this.begin(text)`.
 */
export class ToolUseBase {
  maxTurns = 12;
  schemas: readonly object[] = [];
  state: Record<string, unknown> = {};
  expectedAnswer: unknown = undefined;
  userMessages: readonly string[] = [];
  messageCriteria: readonly ((state: Record<string, unknown>) => unknown)[] = [];
  turn = 0;
  #message = 0;

  constructor() {
    // A subclass' `reset` begins with nothing left of the episode before.
    const own = (this as { reset?: unknown }).reset;
    if (typeof own !== "function") return;
    const reset = (seed: number): unknown => {
      this.#forget();
      return (own as (seed: number) => unknown).call(this, seed);
    };
    Object.defineProperty(this, "reset", { value: reset, writable: true, configurable: true, enumerable: false });
  }

  /** The tool schemas. */
  tools(): readonly object[] {
    return this.schemas;
  }

  /** What `reset` returns: a text, the tools, how to reply, and the first message if there are any. */
  begin(text: string): Shown {
    const names = this.schemas.map((tool) => dumps((tool as { function?: unknown }).function ?? tool, true)).join("\n");
    const [first] = this.userMessages;
    const how = `Reply with <tool_call>{"name": ..., "arguments": {...}}</tool_call>${first === undefined ? " or <answer>...</answer>." : "."}`;
    return { observation: `${text}\nTools:\n${names}\n${how}${first === undefined ? "" : `\nUser: ${first}`}`, info: { tools: this.schemas } };
  }

  step(action: string): Stepped {
    this.turn++;
    const { calls, answer, report } = readReply(action, this.schemas);
    const lines = [...report.errors.map(({ message }) => `Unreadable: ${message}`), ...calls.map((call) => `${call.name}: ${this.#dispatch(call)}`)];
    if (lines.length === 0 && answer === undefined) lines.push("Nothing was done: the reply has no tool call.");
    const [reward, terminated] = this.userMessages.length > 0 ? this.#goOn(lines, answer !== undefined || calls.length === 0) : this.#judge(lines, answer);
    return {
      observation: lines.join("\n"),
      reward,
      terminated,
      truncated: !terminated && this.turn >= this.maxTurns,
      info: { turn: this.turn, parse: report, calls },
    };
  }

  #forget(): void {
    this.state = {};
    this.expectedAnswer = undefined;
    this.userMessages = [];
    this.messageCriteria = [];
    this.turn = 0;
    this.#message = 0;
  }

  /** Message form: goes to the next message when the criterion of the present one holds. */
  #goOn(lines: string[], isReply: boolean): readonly [reward: number, terminated: boolean] {
    const present = this.userMessages[this.#message] ?? "";
    if (this.messageCriteria[this.#message]?.(this.state)) {
      const next = this.userMessages[++this.#message];
      lines.push(next === undefined ? "All requests are done." : `User: ${next}`);
      return next === undefined ? [1, true] : [0, false];
    }
    if (isReply) lines.push(`The request is still open: ${present}`);
    return [0, false];
  }

  /** Answer form: an answer ends the episode. */
  #judge(lines: string[], answer: string | undefined): readonly [reward: number, terminated: boolean] {
    if (answer === undefined) return [0, false];
    const won = this.#isExpected(answer);
    lines.push(won ? "Correct." : "Wrong.");
    return [won ? 1 : 0, true];
  }

  /** Runs one call; the result as text. Arguments outside the schema never reach the tool. */
  #dispatch({ name, arguments: values }: ToolCall): string {
    const schemas = schemasByName(this.schemas);
    const schema = schemas.get(name);
    if (schema === undefined) return `error: unknown tool ${name}${suggestion(name, [...schemas.keys()])}`;
    const refused = refusal(values, schema);
    if (refused !== undefined) return `error: ${refused}`;
    const method = (this as unknown as Record<string, unknown>)[`tool_${name.replace(/[.-]/g, "_")}`];
    if (typeof method !== "function") return `error: tool ${name} is not available`;
    try {
      const result = (method as (values: object) => unknown).call(this, values);
      if (result instanceof Promise) return `error: ${shown(result)}`;
      return typeof result === "string" ? result : dumps(result);
    } catch (error) {
      const { name: type = "Error", message = error } = isFields(error) ? error : {};
      return `error: ${String(type)}: ${String(message).slice(0, 200)}`;
    }
  }

  #isExpected(answer: string): boolean {
    const expected = this.expectedAnswer;
    if (expected === undefined || expected === null || expected === "" || answer === "") return false;
    return same(answer, expected) || verify(typeof expected === "object" ? dumps(expected) : parse(expected), parse(answer));
  }
}
