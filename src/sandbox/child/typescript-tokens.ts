/** A token of a program; `text` of strings and templates is their value as written, without quotes. */
export interface Token {
  readonly kind: "name" | "number" | "string" | "template" | "regex" | "mark";
  readonly text: string;
  /** The first of its line. */
  readonly startsLine: boolean;
}

const name = /[\p{ID_Start}$_#][\p{ID_Continue}$\u200c\u200d]*/uy;
const number = /(?:0[xob][\da-f_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:e[+-]?\d+)?)n?/iy;
const string = /"(?:[^"\\\n]|\\[^])*"?|'(?:[^'\\\n]|\\[^])*'?/y;
const regex = /\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const blank = /(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)+/y;
const mark = />>>=|\.\.\.|===|!==|\*\*=|<<=|>>=|>>>|&&=|\|\|=|\?\?=|=>|==|!=|<=|>=|&&|\|\||\?\?|\?\.|\+\+|--|\+=|-=|\*=|\/=|%=|&=|\|=|\^=|<<|>>|\*\*|[^]/uy;
const chunk = /(?:[^`\\$]|\\[^]|\$(?!\{))*/y;

/** After these a slash begins a regular expression. */
const beforeRegex = new Set("return typeof case in of delete void throw new else do instanceof yield await".split(" "));

/**
 * The tokens of a JavaScript program, comments left out. Linear in its length. A program that does not parse gives some
 * tokens, never an error.
 */
export function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  /** For each open brace whether it is the `${` of a template. */
  const braces: boolean[] = [];
  let at = 0;
  let startsLine = true;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(source)?.[0];
    if (found === undefined || found === "") return undefined;
    at += found.length;
    return found;
  };
  const add = (kind: Token["kind"], text: string): void => {
    tokens.push({ kind, text, startsLine });
    startsLine = false;
  };
  const template = (): void => {
    add("template", take(chunk) ?? "");
    if (source.startsWith("${", at)) braces.push(true);
    at += source.startsWith("${", at) ? 2 : 1;
  };
  while (at < source.length) {
    const space = take(blank);
    if (space !== undefined) {
      startsLine ||= space.includes("\n");
      continue;
    }
    const char = source[at] ?? "";
    if (char === "`") {
      at++;
      template();
    } else if (char === "}" && braces.pop() === true) {
      at++;
      template();
    } else {
      const { kind, text } = next(take, char, tokens.at(-1));
      if (text === "{") braces.push(false);
      add(kind, text);
    }
  }
  return tokens;
}

function next(take: (pattern: RegExp) => string | undefined, char: string, before: Token | undefined): Pick<Token, "kind" | "text"> {
  if (char === '"' || char === "'") return { kind: "string", text: unquoted(take(string) ?? "") };
  const asNumber = /[\d.]/.test(char) ? take(number) : undefined;
  if (asNumber !== undefined && asNumber !== ".") return { kind: "number", text: asNumber };
  const asName = take(name);
  if (asName !== undefined) return { kind: "name", text: asName };
  const asRegex = char === "/" && canStartRegex(before) ? take(regex) : undefined;
  if (asRegex !== undefined) return { kind: "regex", text: asRegex };
  return { kind: "mark", text: take(mark) ?? "" };
}

function canStartRegex(before: Token | undefined): boolean {
  if (before === undefined) return true;
  if (before.kind === "name") return beforeRegex.has(before.text);
  return before.kind === "mark" && !")]}".includes(before.text) && before.text !== "++" && before.text !== "--";
}

function unquoted(text: string): string {
  const quote = text[0] ?? "";
  return text.length > 1 && text.endsWith(quote) ? text.slice(1, -1) : text.slice(1);
}
