import { SpadeError } from "../../../src/core/errors.ts";

export interface Token {
  readonly kind: "name" | "number" | "string" | "fstring" | "op" | "newline" | "indent" | "dedent" | "end";
  readonly text: string;
}

const pattern = /\s*(?:(f?"(?:[^"\\]|\\.)*"|f?'(?:[^'\\]|\\.)*')|([A-Za-z_]\w*)|(\d+)|(\*\*|\/\/|[<>=!+\-*/%]=|\/\/=|[-+*/%<>=()[\]{},.:]))/y;

/** Tokens of one expression or logical line. @throws SpadeError `internal.python` on text outside the subset. */
export function lexLine(line: string): Token[] {
  const tokens: Token[] = [];
  pattern.lastIndex = 0;
  while (pattern.lastIndex < line.length) {
    const start = pattern.lastIndex;
    const match = pattern.exec(line);
    if (match === null) {
      if (line.slice(start).trim() === "") break;
      throw new SpadeError("internal.python", `The demonstration program has "${line.slice(start)}", which the Python subset lacks; extend models/nano/python/lexer.ts.`);
    }
    const [, text, name, number, op] = match;
    if (text !== undefined) tokens.push({ kind: text.startsWith("f") ? "fstring" : "string", text: unquote(text) });
    else if (name !== undefined) tokens.push({ kind: "name", text: name });
    else if (number !== undefined) tokens.push({ kind: "number", text: number });
    else tokens.push({ kind: "op", text: op ?? "" });
  }
  return tokens;
}

/** Tokens of a program with `indent` and `dedent` at the borders of blocks. */
export function lex(source: string): Token[] {
  const tokens: Token[] = [];
  const depths = [0];
  for (const line of source.split("\n")) {
    if (line.trim() === "") continue;
    const depth = line.length - line.trimStart().length;
    if (depth > (depths.at(-1) ?? 0)) {
      depths.push(depth);
      tokens.push({ kind: "indent", text: "" });
    }
    while (depth < (depths.at(-1) ?? 0)) {
      depths.pop();
      tokens.push({ kind: "dedent", text: "" });
    }
    tokens.push(...lexLine(line), { kind: "newline", text: "" });
  }
  for (let i = 1; i < depths.length; i++) tokens.push({ kind: "dedent", text: "" });
  tokens.push({ kind: "end", text: "" });
  return tokens;
}

function unquote(text: string): string {
  const body = text.slice(text.startsWith("f") ? 2 : 1, -1);
  return body.replaceAll("\\n", "\n").replaceAll('\\"', '"').replaceAll("\\'", "'");
}
