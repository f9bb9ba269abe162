/** Names that a tool method reads from its argument object. */
export interface Parameters {
  readonly names: readonly string[];
  /** Those that have a default in the method's head. */
  readonly defaults: readonly string[];
}

/**
 * The parameters of a tool method, read from its text: the names of a destructured argument, or those that the body reads
 * from a named one. `declared` is returned where the text does not tell, because the whole object is handed on.
 */
export function parametersOf(text: string, declared: readonly string[]): Parameters {
  const [head, body] = headAndBody(text);
  const first = (parts(head)[0] ?? "").trim();
  if (first === "") return { names: [], defaults: [] };
  if (first.startsWith("{")) return fromPattern(first);
  const name = /^[\w$]+/.exec(first)?.[0];
  return name === undefined ? { names: declared, defaults: [] } : fromBody(body, name, declared);
}

/** The text between the parentheses of the parameter list, and what follows them. */
function headAndBody(text: string): readonly [string, string] {
  const bare = /^(?:async\s+)?([\w$]+)\s*=>/.exec(text);
  if (bare !== null) return [bare[1] ?? "", text.slice(bare[0].length)];
  const open = text.indexOf("(");
  const end = closing(text, open);
  return [text.slice(open + 1, end), text.slice(end + 1)];
}

/** Index of the bracket that closes the one at `open`; the text's end when none does. */
function closing(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if ("([{".includes(text.charAt(at))) depth++;
    else if (")]}".includes(text.charAt(at)) && --depth === 0) return at;
  }
  return text.length;
}

/** The text split at the commas outside brackets. */
function parts(text: string): string[] {
  const found = [""];
  let depth = 0;
  for (const char of text) {
    if ("([{".includes(char)) depth++;
    else if (")]}".includes(char)) depth--;
    if (char === "," && depth === 0) found.push("");
    else found.push(`${found.pop() ?? ""}${char}`);
  }
  return found;
}

/** Of `{ a, b = 1, c: d }`. */
function fromPattern(pattern: string): Parameters {
  const items = parts(pattern.slice(1, closing(pattern, 0))).map((item) => item.trim()).filter((item) => item !== "");
  const named = items.map((item) => ({ name: /^["']?([^"'\s:=]+)/.exec(item)?.[1] ?? item, hasDefault: /[^=!<>]=(?![=>])/.test(item) }));
  return { names: named.map(({ name }) => name), defaults: named.filter(({ hasDefault }) => hasDefault).map(({ name }) => name) };
}

/** Of a body that reads `args.a`, `args["b"]` and `const { c } = args`. */
function fromBody(body: string, name: string, declared: readonly string[]): Parameters {
  const own = name.replaceAll("$", "\\$");
  const names = new Set<string>();
  const patterns: Parameters[] = [];
  const rest = body
    .replaceAll(new RegExp(`(\\{[^{}]*\\})\\s*=\\s*${own}(?![\\w$.?[(])`, "g"), (_found, pattern: string) => {
      patterns.push(fromPattern(pattern));
      return "";
    })
    .replaceAll(new RegExp(`(?<![\\w$.])${own}\\s*(?:\\?\\.|\\.)\\s*([\\w$]+)|(?<![\\w$.])${own}\\s*(?:\\?\\.)?\\[\\s*["']([^"']+)["']\\s*\\]`, "g"), (_found, key?: string, quoted?: string) => {
      names.add(key ?? quoted ?? "");
      return "";
    });
  if (new RegExp(`(?<![\\w$.])${own}(?![\\w$])`).test(rest)) return { names: declared, defaults: [] };
  for (const { names: taken } of patterns) for (const key of taken) names.add(key);
  return { names: [...names], defaults: patterns.flatMap(({ defaults }) => defaults) };
}
