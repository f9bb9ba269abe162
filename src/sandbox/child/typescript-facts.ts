import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { ProgramFacts } from "../sandbox.ts";
import { tokensOf, type Token } from "./typescript-tokens.ts";

const keywords =
  "break case catch class const continue debugger default delete do else export extends false finally for function get if import in instanceof let new null of return set static super switch this throw true try typeof undefined var void while with yield async await";
const contract = "reset step solution hint tools close constructor maxTurns max_turns seed action observation reward terminated truncated info schemas expectedAnswer userMessages messageCriteria TextGame ToolUseBase Random same boxed parse verify start begin show tell judge finish console log";

/** Names a program does not choose itself: of the language, of its standard library, and of the contract. */
const keptNames: ReadonlySet<string> = new Set([...keywords.split(" "), ...contract.split(" "), ...standardNames()]);

const assignments = new Set("= += -= *= /= %= **= &&= ||= ??= |= &= ^= <<= >>= >>>= ++ --".split(" "));
const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", v: "\v", 0: "\0", "\n": "" };
/** Tokens of one shingle. */
const shingleTokens = 8;

/** Facts read from the text of a program whose types have been stripped. */
export function typescriptFacts(source: string): Pick<ProgramFacts, "skeleton" | "shingles" | "strings" | "stateVariables"> {
  const tokens = tokensOf(source);
  const names = new Map<string, string>();
  const exact = tokens.map((token) => normalised(token, (own) => names.get(own) ?? rename(names, own)));
  const loose = tokens.map((token) => normalised(token, () => "v"));
  const shingles = new Set<number>();
  for (let i = 0; i + shingleTokens <= loose.length; i++) shingles.add(crc32(loose.slice(i, i + shingleTokens).join(" ")));
  const strings = tokens.filter(({ kind, text }) => kind === "string" || (kind === "template" && text !== "")).map(({ text }) => unescaped(text));
  return {
    skeleton: createHash("sha256").update(exact.join(" ")).digest("hex").slice(0, 32),
    shingles: [...shingles].sort((a, b) => a - b),
    strings: [...new Set(strings)],
    stateVariables: stateVariables(tokens).size,
  };
}

function normalised({ kind, text }: Token, own: (name: string) => string): string {
  if (kind === "name") return keptNames.has(text) ? text : own(text);
  return kind === "mark" ? text : `<${kind}>`;
}

function rename(names: Map<string, string>, name: string): string {
  const alias = `v${names.size}`;
  names.set(name, alias);
  return alias;
}

/** Names assigned on `this`, and fields of classes. */
function stateVariables(tokens: readonly Token[]): Set<string> {
  const found = new Set<string>();
  /** For each open brace whether it is a class body. */
  const bodies: boolean[] = [];
  let isClassHead = false;
  for (const [i, token] of tokens.entries()) {
    const [before, after] = [tokens[i - 1], tokens[i + 1]];
    if (token.kind === "name" && before?.text === "." && tokens[i - 2]?.text === "this" && isAssigned(tokens[i - 3], after)) found.add(token.text);
    if (token.kind === "name" && bodies.at(-1) === true && isField(token, before, after)) found.add(token.text);
    if (token.kind === "name" && token.text === "class" && before?.text !== ".") isClassHead = true;
    if (token.text === "{" && token.kind === "mark") {
      bodies.push(isClassHead);
      isClassHead = false;
    } else if (token.text === "}" && token.kind === "mark") bodies.pop();
  }
  return found;
}

function isAssigned(beforeThis: Token | undefined, after: Token | undefined): boolean {
  return (after?.kind === "mark" && assignments.has(after.text)) || beforeThis?.text === "++" || beforeThis?.text === "--";
}

/** A name directly in a class body that begins a member and is no method. */
function isField(token: Token, before: Token | undefined, after: Token | undefined): boolean {
  const begins = token.startsLine || before?.text === "{" || before?.text === ";" || before?.text === "}" || before?.text === "static";
  if (!begins || token.text === "static") return false;
  return after?.text === "=" || after?.text === ";" || after?.text === "}" || (after?.startsLine === true && after.text !== "(" && after.text !== "{");
}

function unescaped(text: string): string {
  return text.replace(/\\(?:u\{([\da-f]{1,6})\}|u([\da-f]{4})|x([\da-f]{2})|([^]))/gi, (...[, long, short, byte, char]: (string | undefined)[]) => {
    const code = parseInt(long ?? short ?? byte ?? "", 16);
    return char === undefined ? (code <= 0x10ffff ? String.fromCodePoint(code) : "") : (escapes[char] ?? char);
  });
}

/** Names of the standard library: globals, and the properties of the built-in objects and their prototypes. */
function standardNames(): string[] {
  const roots = [Object, Array, String, Number, Boolean, Math, JSON, Map, Set, RegExp, Date, Error, Promise, Symbol, BigInt, Function, Reflect, Iterator];
  const properties = roots.flatMap((root) => [...Object.getOwnPropertyNames(root), ...Object.getOwnPropertyNames((root as { prototype?: object }).prototype ?? {})]);
  return [...properties, ..."Object Array String Number Boolean Math JSON Map Set WeakMap WeakSet RegExp Date Error TypeError RangeError Promise Symbol BigInt Function Reflect Proxy Iterator Infinity NaN parseInt parseFloat isNaN isFinite Uint8Array Int32Array Float64Array".split(" ")];
}
