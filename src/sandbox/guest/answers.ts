/** Answer checking for TypeScript programs; the same rules as `answers.py`. */

const decimal = /^([+-]?)(\d{0,400})(?:\.(\d{0,400}))?(?:e([+-]?\d{1,2}))?$/i;

/** Content of the last complete \boxed{...}. */
export function boxed(text: string): string | undefined {
  let found: string | undefined;
  let start = text.indexOf("\\boxed{");
  while (start >= 0) {
    const end = closingBrace(text, start + 6);
    if (end !== undefined) found = text.slice(start + 7, end);
    start = text.indexOf("\\boxed{", end ?? start + 7);
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

function closingBrace(text: string, open: number): number | undefined {
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    if (text[i] === "{") depth++;
    else if (text[i] === "}" && --depth === 0) return i;
  }
  return undefined;
}
