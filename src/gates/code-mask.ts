import type { Language } from "../core/environment.ts";

/**
 * The source with every character of a string or comment replaced by a space (line ends are kept), so that a position
 * found in it is code. Expressions inside f-strings and templates count as string.
 */
export function codeMask(source: string, language: Language): string {
  const skip = language === "python" ? skipPython : skipTypescript;
  let mask = "";
  for (let at = 0; at < source.length; ) {
    const end = skip(source, at);
    mask += end === at ? source.charAt(at) : source.slice(at, end).replaceAll(/[^\n]/g, " ");
    at = end === at ? at + 1 : end;
  }
  return mask;
}

/** Every match of a pattern (with flag g) in the code, not in strings or comments. */
export function codeMatches(source: string, language: Language, pattern: RegExp): { readonly index: number; readonly text: string }[] {
  return [...codeMask(source, language).matchAll(pattern)].map((match) => ({ index: match.index, text: match[0] }));
}

/** The source with one place replaced. */
export function spliced(source: string, { index, text }: { readonly index: number; readonly text: string }, replacement: string): string {
  return source.slice(0, index) + replacement + source.slice(index + text.length);
}

/** The end of the string or comment that starts at `at`; `at` itself when none does. */
function skipPython(source: string, at: number): number {
  if (source[at] === "#") return lineEnd(source, at);
  const match = /^([rRbBuU]|[fFtT]|[rRbB]{2}|[rR][fFtT]|[fFtT][rR])?("""|'''|"|')/.exec(source.slice(at, at + 5));
  if (match === null || (match[1] !== undefined && /\w/.test(source[at - 1] ?? ""))) return at;
  const quote = match[2] ?? "";
  return stringEnd(source, { from: at + match[0].length, quote, open: /[ft]/i.test(match[1] ?? "") ? "{" : undefined, skip: skipPython });
}

function skipTypescript(source: string, at: number): number {
  if (source.startsWith("//", at)) return lineEnd(source, at);
  if (source.startsWith("/*", at)) return endOf(source, "*/", at + 2);
  const quote = source[at] ?? "";
  if (quote === "/") return regexEnd(source, at);
  if (quote !== '"' && quote !== "'" && quote !== "`") return at;
  return stringEnd(source, { from: at + 1, quote, open: quote === "`" ? "${" : undefined, skip: skipTypescript });
}

interface StringScan {
  readonly from: number;
  readonly quote: string;
  /** What opens an expression inside the string, if any can be there. */
  readonly open: string | undefined;
  readonly skip: (source: string, at: number) => number;
}

function stringEnd(source: string, scan: StringScan): number {
  const { from, quote, open, skip } = scan;
  for (let at = from; at < source.length; at++) {
    if (source[at] === "\\") at++;
    else if (source.startsWith(quote, at)) return at + quote.length;
    else if (open === "{" && source.startsWith("{{", at)) at++;
    else if (open !== undefined && source.startsWith(open, at)) at = expressionEnd(source, at + open.length, skip) - 1;
  }
  return source.length;
}

/** After the brace that closes an expression begun before `from`. */
function expressionEnd(source: string, from: number, skip: StringScan["skip"]): number {
  let depth = 1;
  for (let at = from; at < source.length; at++) {
    const end = skip(source, at);
    if (end > at) at = end - 1;
    else if (source[at] === "{") depth++;
    else if (source[at] === "}" && --depth === 0) return at + 1;
  }
  return source.length;
}

/** A slash begins a regular expression where no operand stands before it. */
function regexEnd(source: string, at: number): number {
  if (!/(?:[=(,:;!&|?{}[+*%<>~-]|\breturn|^)\s*$/.test(source.slice(Math.max(0, at - 40), at))) return at;
  const match = /^\/(?:[^\\/\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/.exec(source.slice(at));
  return match === null ? at : at + match[0].length;
}

function lineEnd(source: string, at: number): number {
  const end = source.indexOf("\n", at);
  return end < 0 ? source.length : end;
}

function endOf(source: string, token: string, from: number): number {
  const end = source.indexOf(token, from);
  return end < 0 ? source.length : end + token.length;
}
