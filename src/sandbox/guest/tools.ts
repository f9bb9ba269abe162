/**
 * Tool calls in a reply, for TypeScript programs; the same rules as `tools.py`: a reply is scanned once, left to right;
 * tags and braces inside JSON strings are text; think blocks hold no actions; every repair and refusal is in the report.
 */
import { BrokenText, decode, dumps, readValue } from "./json.ts";
import { coerce, fits, isFields, type ParametersSchema, schemasByName } from "./schema.ts";

/** A tool call of a reply. */
export interface ToolCall {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

/** What was repaired and what could not be read. */
export interface ParseReport {
  readonly warnings: string[];
  readonly errors: { readonly code: "parse"; readonly message: string }[];
}

const tags = /<think>|<\/think>|<tool_call>|<function=|<answer>/g;
const parameterEnd = /<\/parameter>(?=\s*(?:<parameter=|<\/function>|<\/tool_call>|$))/g;
const namePattern = /[^<>\s]{1,200}/y;
const maxText = 200_000;
const maxBrackets = 2000;

/** The calls of a reply in order, its last `<answer>`, and the parse report. */
export function readReply(text: string, tools: unknown): { readonly calls: readonly ToolCall[]; readonly answer?: string; readonly report: ParseReport } {
  const reader = new ReplyReader(text, schemasByName(tools));
  if (text.length > maxText || (text.match(/[{[]/g) ?? []).length > maxBrackets) reader.fail("the reply is too long or too deeply nested to hold a tool call");
  else reader.scan();
  const { calls, answer, report } = reader;
  return { calls, report, ...(answer === undefined ? {} : { answer }) };
}

class ReplyReader {
  private readonly text: string;
  private readonly schemas: ReadonlyMap<string, ParametersSchema>;
  private at = 0;
  calls: ToolCall[] = [];
  answer: string | undefined;
  report: ParseReport = { warnings: [], errors: [] };

  constructor(text: string, schemas: ReadonlyMap<string, ParametersSchema>) {
    this.text = text;
    this.schemas = schemas;
  }

  fail(message: string): void {
    this.report.errors.push({ code: "parse", message });
  }

  scan(): void {
    for (let match = this.find(tags, this.at); match !== undefined; match = this.find(tags, this.at)) {
      const [tag] = match;
      this.at = match.index + tag.length;
      if (tag === "<think>") this.skipPast("</think>");
      else if (tag === "</think>") this.forgetThoughts();
      else if (tag === "<answer>") this.readAnswer();
      else this.readGuarded(() => (tag === "<tool_call>" ? this.readBlock() : this.readFunction()));
    }
  }

  /** The template opened the block in the prompt: all before its end was thought. */
  private forgetThoughts(): void {
    const { warnings } = this.report;
    if (this.calls.length > 0 || this.answer !== undefined) warnings.push("calls before </think> are thoughts and were ignored");
    this.calls = [];
    this.answer = undefined;
    this.report = { warnings, errors: [] };
  }

  private find(pattern: RegExp, from: number): RegExpExecArray | undefined {
    pattern.lastIndex = from;
    return pattern.exec(this.text) ?? undefined;
  }

  private skipPast(tag: string): void {
    const end = this.text.indexOf(tag, this.at);
    this.at = end < 0 ? this.text.length : end + tag.length;
  }

  private skipSpace(more = ""): void {
    for (let char = this.text[this.at]; char !== undefined && (/\s/.test(char) || more.includes(char)); char = this.text[this.at]) this.at++;
  }

  private take(token: string): boolean {
    this.skipSpace();
    if (!this.text.startsWith(token, this.at)) return false;
    this.at += token.length;
    return true;
  }

  private readAnswer(): void {
    const end = this.text.indexOf("</answer>", this.at);
    if (end < 0) this.fail("<answer> is not closed");
    else this.answer = this.text.slice(this.at, end).trim();
    this.skipPast("</answer>");
  }

  private readGuarded(read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof BrokenText)) throw error;
      this.fail(`a tool call cannot be read: ${error.message.slice(0, 200)}`);
      this.skipPast("</tool_call>");
    }
  }

  private readBlock(): void {
    let found = 0;
    for (;;) {
      this.skipSpace(",;");
      if (this.take("</tool_call>")) break;
      const char = this.text[this.at];
      if (char === undefined) {
        if (found === 0) throw new BrokenText("the block is cut off");
        this.report.warnings.push("a tool call block is not closed");
        break;
      }
      if (this.take("<function=")) this.readFunction();
      else if (char === "{" || char === "[") {
        const { value, end } = readValue(this.text, this.at);
        this.at = end;
        for (const item of Array.isArray(value) ? (value as unknown[]) : [value]) this.addObject(item);
      } else throw new BrokenText(`expected a JSON object or <function=NAME>, found '${this.text.slice(this.at, this.at + 20)}'`);
      found++;
    }
    if (found === 0) this.fail("a tool call block is empty");
  }

  private addObject(given: unknown): void {
    const item = isFields(given) && isFields(given["function"]) ? given["function"] : given;
    const name = isFields(item) ? item["name"] : undefined;
    if (!isFields(item) || typeof name !== "string" || name.trim() === "") {
      this.fail(`the name of a tool call is ${isFields(item) ? dumps(name) : "missing"}; expected text`);
      return;
    }
    const key = ["arguments", "parameters", "args", "input"].find((one) => Object.hasOwn(item, one));
    if (key !== undefined && key !== "arguments") this.report.warnings.push(`${name}: ${key} read as arguments`);
    let values = key === undefined ? {} : item[key];
    if (typeof values === "string") values = values.trim() === "" ? {} : decode(values);
    values ??= {};
    if (isFields(values)) this.add(name.trim(), { ...values });
    else this.fail(`${name}: arguments are ${Array.isArray(values) ? "list" : typeof values}; expected an object`);
  }

  /** After `<function=`: parameters one by one, or a JSON object, up to `</function>`. */
  private readFunction(): void {
    const name = this.readName("<function=");
    const values: Record<string, unknown> = {};
    while (!this.take("</function>")) {
      if (this.take("<parameter=")) {
        const key = this.readName("<parameter=");
        const end = this.find(parameterEnd, this.at);
        if (end === undefined) throw new BrokenText(`parameter ${key} is not closed`);
        values[key] = this.text.slice(this.at, end.index).replace(/^\n/, "").replace(/\n$/, "");
        this.at = end.index + end[0].length;
      } else if (this.text[this.at] === "{") {
        const { value, end } = readValue(this.text, this.at);
        this.at = end;
        Object.assign(values, value);
      } else throw new BrokenText(`function ${name} is not closed`);
    }
    this.add(name, values);
  }

  /** A name and the `>` after it. */
  private readName(tag: string): string {
    const name = this.find(namePattern, this.at)?.[0];
    if (name === undefined) throw new BrokenText(`${tag} has no name`);
    this.at += name.length;
    if (this.text[this.at] !== ">") throw new BrokenText(`${tag}${name} is not closed`);
    this.at++;
    return name;
  }

  private add(name: string, values: Record<string, unknown>): void {
    const properties = this.schemas.get(name)?.properties ?? {};
    for (const [key, value] of Object.entries(values)) {
      const rule = Object.hasOwn(properties, key) ? properties[key] : undefined;
      if (!isFields(rule)) continue;
      values[key] = coerce(value, rule["type"]);
      if (!fits(values[key], rule["type"])) this.report.warnings.push(`${name}: ${key} is ${dumps(value).slice(0, 80)}; expected ${String(rule["type"])}`);
    }
    this.calls.push({ name, arguments: values });
  }
}
