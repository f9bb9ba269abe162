/**
 * Checking of LaTeX answers for TypeScript programs, under math_verify's names; the same rules as `answers.py`. Nothing here
 * evaluates an expression of unbounded size: powers beyond a small bound do not parse.
 */
import { boxed } from "./answers.ts";
import { add, divide, multiply, negate, power, type Rational, rational, readDecimal, root, Unparsable } from "./rational.ts";

/** What an answer means. */
type Value = Rational | { readonly kind: "tuple" | "set" | "expression"; readonly items: readonly Value[] };
/** Values of the variables of an expression. */
type Point = (variable: string) => Rational;

const maxText = 2000;
const maxDepth = 40;
const points = 3;
const factorStart = /[a-z]|\\(?:frac|sqrt|pi|alpha|beta|theta|lambda)(?![a-z])/y;
const variable = /\\(?:pi|alpha|beta|theta|lambda)(?![a-z])|[a-z]/y;
const anyVariable = new RegExp(variable.source);
const algebra = /[\d+\-*/^,]|\\(?:frac|cdot|times|pi)/;
const plainNumber = /\d{1,400}(\.\d{1,400})?|\.\d{1,400}/y;

/** Answers found in a text, as canonical texts; empty when it is malformed. */
export function parse(text: unknown): string[] {
  if (typeof text !== "string" && typeof text !== "number" && typeof text !== "bigint") return [];
  const given = String(text);
  if (typeof text !== "string") return [readDecimal(given)].flatMap((value) => (value === undefined ? [] : [shown(value)]));
  const cleaned = given.length > maxText ? undefined : clean(given);
  if (cleaned === undefined || cleaned === "") return [];
  const percent = /^(.+?)\\?%$/.exec(cleaned)?.[1];
  const value = valueOf(percent ?? cleaned);
  if (value === undefined) return [percent ?? cleaned];
  return percent !== undefined && !("kind" in value) ? [shown(value), shown(divide(value, rational(100n)))] : [shown(value)];
}

/** Whether an answer equals the gold one, both as `parse` returns them or as text. `50\%` equals 50 and 0.5. */
export function verify(gold: unknown, answer: unknown): boolean {
  const [left, right] = [gold, answer].map((given): readonly unknown[] => (Array.isArray(given) ? given : parse(given)));
  return left?.some((one) => right?.includes(one)) === true;
}

/** One text per meaning. No cleaned text has spaces, so none is mistaken for a value. */
function shown(value: Value): string {
  if (!("kind" in value)) return value.d === 1n ? String(value.n) : `${value.n}/${value.d}`;
  const items = value.items.map(shown);
  if (value.kind === "set") return `{ ${[...new Set(items)].sort().join(", ")} }`;
  return `${value.kind} (${items.join(", ")})`;
}

/** What a cleaned answer means; undefined when it is text. */
function valueOf(text: string): Value | undefined {
  const number = readDecimal(text);
  if (number !== undefined) return number;
  for (const read of [(): Value | undefined => new Reader(text).whole(), (): Value | undefined => expression(text)]) {
    try {
      const value = read();
      if (value !== undefined) return value;
    } catch {
      // Not of this form, or nested deeper than the stack: the next form, at last text.
    }
  }
  return undefined;
}

/**
 * An expression in variables as its values at fixed points: equal values mean equal expressions. Words are no products of
 * letters: three letters in a row, or letters alone, are text.
 */
function expression(text: string): Value | undefined {
  const bare = text.replace(/\\[a-z]+/g, " ");
  if (/[a-z]{3}/.test(bare) || !algebra.test(text) || !anyVariable.test(text)) return undefined;
  const items = Array.from({ length: points }, (_, index) => new Reader(text, pointAt(index)).whole());
  const [first] = items;
  return new Set(items.map(shown)).size === 1 ? first : { kind: "expression", items };
}

/** Fixed values of all variables: rational, distinct, away from the roots of small polynomials. */
function pointAt(index: number): Point {
  return (name) => rational(BigInt((crc32(`${index} ${name}`) % 9973) + 11), BigInt(7 + 2 * index));
}

function crc32(text: string): number {
  let crc = -1;
  for (const char of text) {
    crc ^= char.charCodeAt(0);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** Recursive descent over a cleaned answer. Without a point there are no variables. */
class Reader {
  private readonly text: string;
  private readonly point: Point | undefined;
  private at = 0;
  private depth = 0;

  constructor(text: string, point?: Point) {
    this.text = text;
    this.point = point;
  }

  whole(): Value {
    const items = this.items();
    if (this.at !== this.text.length) throw new Unparsable();
    return one("tuple", items);
  }

  private peek(token: string): boolean {
    return this.text.startsWith(token, this.at);
  }

  private take(token: string): boolean {
    if (!this.peek(token)) return false;
    this.at += token.length;
    return true;
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    return pattern.exec(this.text)?.[0];
  }

  /** Values up to a closing mark, or to the end. */
  private items(closing?: string): Value[] {
    const values: Value[] = [];
    while (closing === undefined || !this.peek(closing)) {
      values.push(this.sum());
      if (!this.take(",")) break;
    }
    if (closing !== undefined && !this.take(closing)) throw new Unparsable();
    return values;
  }

  private sum(): Value {
    if (++this.depth > maxDepth) throw new Unparsable();
    let value = this.product();
    while (this.peek("+") || this.peek("-")) {
      const isSum = this.take("+") || !this.take("-");
      const next = numeric(this.product());
      value = add(numeric(value), isSum ? next : negate(next));
    }
    this.depth--;
    return value;
  }

  private product(): Value {
    let value = this.factor();
    for (;;) {
      if (this.take("\\cdot") || this.take("\\times") || this.take("*")) value = multiply(numeric(value), numeric(this.factor()));
      else if (this.take("/") || this.take("\\div")) value = divide(numeric(value), numeric(this.factor()));
      else if (this.peek("\\frac") && this.point === undefined) value = add(whole(value), numeric(this.factor()));
      else if (this.peek("(") || (this.point !== undefined && this.match(factorStart) !== undefined)) value = multiply(numeric(value), numeric(this.factor()));
      else return value;
    }
  }

  private factor(): Value {
    if (this.take("-")) return negate(numeric(this.factor()));
    if (this.take("+")) return numeric(this.factor());
    const value = this.atom();
    return this.take("^") ? power(numeric(value), this.argument()) : value;
  }

  /** One LaTeX argument: a brace group, a digit or a variable. */
  private argument(): Rational {
    if (this.take("{")) {
      const value = this.sum();
      if (!this.take("}")) throw new Unparsable();
      return numeric(value);
    }
    const char = this.text[this.at] ?? "";
    if (/^\d$/.test(char)) {
      this.at++;
      return rational(BigInt(char));
    }
    return this.take("-") ? negate(this.argument()) : (this.variable() ?? unparsable());
  }

  private variable(): Rational | undefined {
    const name = this.point === undefined ? undefined : this.match(variable);
    if (name === undefined) return undefined;
    this.at += name.length;
    return this.point?.(name);
  }

  private atom(): Value {
    if (this.take("\\frac")) {
      const above = this.argument();
      return divide(above, this.argument());
    }
    if (this.take("\\sqrt")) return root(this.argument());
    if (this.take("\\{")) return { kind: "set", items: this.items("\\}") };
    if (this.take("(")) return one("tuple", this.items(")"));
    if (this.take("{")) return one("set", this.items("}"));
    if (this.take("[")) return { kind: "tuple", items: this.items("]") };
    const letter = this.variable();
    if (letter !== undefined) return letter;
    const digits = this.match(plainNumber) ?? unparsable();
    this.at += digits.length;
    return readDecimal(digits) ?? unparsable();
  }
}

function unparsable(): never {
  throw new Unparsable();
}

function one(kind: "tuple" | "set", items: readonly Value[]): Value {
  const [first] = items;
  return items.length === 1 && first !== undefined ? first : { kind, items };
}

function numeric(value: Value): Rational {
  return "kind" in value ? unparsable() : value;
}

function whole(value: Value): Rational {
  const number = numeric(value);
  return number.d === 1n ? number : unparsable();
}

/** An answer without box, style and units of degree, lower case, without spaces; undefined when its braces do not pair. */
function clean(given: string): string | undefined {
  let text = boxed(given) ?? given;
  if (text.split("{").length !== text.split("}").length) return undefined;
  text = text
    .replace(/\\(?:text|mathrm|mathbf|textbf|operatorname)\{([^{}]*)\}/g, "$1")
    .replace(/\\[dtc]frac/g, "\\frac")
    .replace(/\\(?:left|right|displaystyle|,|;|!|:|quad)(?![a-zA-Z])/g, "")
    .replaceAll("{,}", "")
    .replaceAll("$", "")
    .replaceAll("^\\circ", "")
    .replaceAll("\\ ", "");
  if (/^\s*-?\d{1,3}(,\d{3})+(\.\d+)?\s*$/.test(text)) text = text.replaceAll(",", "");
  return text
    .replace(/^\s*[A-Za-z]\s*=(?!=)/, "")
    .replaceAll("**", "^")
    .replaceAll("\\lbrace", "\\{")
    .replaceAll("\\rbrace", "\\}")
    .replaceAll("\u2212", "-")
    .replaceAll("\u03c0", "\\pi ")
    .replaceAll("^\\prime", "")
    .replace(/\s+/g, "")
    .replace(/\.+$/, "")
    .toLowerCase();
}
