/** A boxed answer: its content as written, and without wrappers that only style it. */
export interface Boxed {
  readonly content: string;
  /** `content` without enclosing `\text{…}`, `\mathrm{…}`, `\boxed{…}` and similar, trimmed. */
  readonly plain: string;
}

const styleCommands = new Set(["text", "textbf", "textit", "texttt", "mathrm", "mathbf", "mbox", "boxed"]);

/** The last complete `\boxed{…}` of a text: braces balanced, escaped braces not counted, spaces before the brace allowed. */
export function lastBoxed(text: string): Boxed | undefined {
  const closing = matchBraces(text);
  let found: Boxed | undefined;
  let end = -1;
  for (const match of text.matchAll(/\\boxed\s*\{/g)) {
    const open = match.index + match[0].length - 1;
    const close = closing.get(open);
    if (close === undefined || close < end) continue;
    const content = text.slice(open + 1, close);
    found = { content, plain: unwrap(content) };
    end = close;
  }
  return found;
}

/** The action in a response of a boxed game: the plain content of its last complete box; absent when there is none. */
export function boxedAction(text: string): string | undefined {
  return lastBoxed(text)?.plain;
}

/** Position of the closing brace for every opening brace that has one; `\x` pairs are skipped. */
function matchBraces(text: string): Map<number, number> {
  const closing = new Map<number, number>();
  const open: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === "\\") i++;
    else if (char === "{") open.push(i);
    else if (char === "}") {
      const start = open.pop();
      if (start !== undefined) closing.set(start, i);
    }
  }
  return closing;
}

function unwrap(content: string): string {
  let plain = content.trim();
  for (;;) {
    const head = /^\\([a-z]+)\s*\{/.exec(plain);
    if (head === null || !styleCommands.has(head[1] ?? "")) return plain;
    const open = head[0].length - 1;
    if (matchBraces(plain).get(open) !== plain.length - 1) return plain;
    plain = plain.slice(open + 1, -1).trim();
  }
}
