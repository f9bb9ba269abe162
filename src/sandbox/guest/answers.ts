/** Answer checking for TypeScript programs; the same rules as `answers.py`. */

const decimal = /^([+-]?)(\d{0,400})(?:\.(\d{0,400}))?(?:e([+-]?\d{1,2}))?$/i;

/** Content of the last complete \boxed{...}; escaped braces do not count. */
export function boxed(text: string): string | undefined {
  const closing = matchBraces(text);
  let found: string | undefined;
  let last = -1;
  for (const match of text.matchAll(/\\boxed\s*\{/g)) {
    const start = match.index + match[0].length;
    const end = closing.get(start - 1) ?? -1;
    if (end > last) [found, last] = [text.slice(start, end), end];
  }
  return found;
}

/** Whether two plain answers agree: case, spacing and the spelling of numbers do not count. */
export function same(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) || Array.isArray(b)) {
    const [left, right] = [words(a), words(b)];
    return left.length === right.length && left.every((word, i) => same(word, right[i]));
  }
  const [x, y] = [number(a), number(b)];
  if (x !== undefined && y !== undefined) {
    if (!isFraction(a) && !isFraction(b)) return x === y;
    return Math.abs(Number(x) - Number(y)) <= 1e-9 * Math.max(1, Math.abs(Number(x)), Math.abs(Number(y)));
  }
  return plain(a) === plain(b);
}

function isFraction(value: unknown): boolean {
  return typeof value === "number" && !Number.isInteger(value);
}

/** A number in one spelling: digits without leading or trailing zeros, and an exponent. */
function number(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "bigint") return undefined;
  const match = decimal.exec(String(value).trim());
  const [, sign = "", whole = "", part = "", exponent = "0"] = match ?? [];
  if (match === null || whole + part === "") return undefined;
  const digits = (whole + part).replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  if (short === "") return "0";
  return `${sign === "-" ? "-" : ""}${short}e${Number(exponent) - part.length + digits.length - short.length}`;
}

function words(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  let text = String(value).trim();
  if (text.length > 1 && ["[]", "()", "{}"].includes(`${text[0] ?? ""}${text.at(-1) ?? ""}`)) text = text.slice(1, -1);
  return (text.includes(",") ? text.split(",") : text.split(/\s+/)).filter((word) => word.trim() !== "");
}

function plain(value: unknown): string {
  return String(value).toLowerCase().trim().split(/\s+/).join(" ");
}

/** Position of the closing brace for every opening brace that has one. */
function matchBraces(text: string): Map<number, number> {
  const closing = new Map<number, number>();
  const open: number[] = [];
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === "{") open.push(i);
    else if (text[i] === "}") {
      const start = open.pop();
      if (start !== undefined) closing.set(start, i);
    }
  }
  return closing;
}
