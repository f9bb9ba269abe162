/** JSON as the Python guests read and write it, so that both languages say the same to an agent. */

const { parse, stringify } = JSON;

/** A text that is no JSON, or not all of it is there. */
export class BrokenText extends Error {}

/** A value as JSON with Python's spacing, ASCII only; what JSON lacks becomes its type. */
export function dumps(value: unknown, sortKeys = false): string {
  if (value === undefined || value === null) return "null";
  if (Array.isArray(value)) return `[${value.map((item) => dumps(item, sortKeys)).join(", ")}]`;
  if (value instanceof Map || value instanceof Set) return dumps(value instanceof Map ? Object.fromEntries(value) : [...value], sortKeys);
  if (typeof value === "object") {
    const entries = Object.entries(value);
    if (sortKeys) entries.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, item]) => `${dumps(key)}: ${dumps(item, sortKeys)}`).join(", ")}}`;
  }
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint") return String(value);
  const text = typeof value === "string" ? value : typeof value;
  return stringify(text).replace(/[\u007f-\uffff]/g, asEscape);
}

/** The JSON object or array that begins at `at`, and where it ends. Line breaks inside strings are allowed. @throws BrokenText */
export function readValue(text: string, at: number): { readonly value: unknown; readonly end: number } {
  const end = endOfValue(text, at);
  return { value: decode(text.slice(at, end)), end };
}

/** A whole text as JSON. @throws BrokenText */
export function decode(text: string): unknown {
  try {
    return parse(escapeControls(text));
  } catch (error) {
    throw new BrokenText(error instanceof Error ? error.message : "no JSON");
  }
}

/** Control characters inside strings, escaped. */
function escapeControls(text: string): string {
  let escaped = "";
  let from = 0;
  let isQuoted = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i] ?? "";
    if (char === '"') isQuoted = !isQuoted;
    else if (isQuoted && char === "\\") i++;
    else if (isQuoted && char < " ") {
      escaped += text.slice(from, i) + asEscape(char);
      from = i + 1;
    }
  }
  return escaped + text.slice(from);
}

function asEscape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function endOfValue(text: string, at: number): number {
  let depth = 0;
  let isQuoted = false;
  for (let i = at; i < text.length; i++) {
    const char = text[i];
    if (isQuoted) {
      if (char === "\\") i++;
      else if (char === '"') isQuoted = false;
    } else if (char === '"') isQuoted = true;
    else if (char === "{" || char === "[") depth++;
    else if ((char === "}" || char === "]") && --depth === 0) return i + 1;
  }
  throw new BrokenText("the JSON value is not closed");
}
