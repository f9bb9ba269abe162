const tokenPattern = /\p{L}+(?:['’]\p{L}+)*|(?<![\p{L}\p{N}_.)])-\d+(?:\.\d+)?|\d+(?:\.\d+)?|[^\s\p{L}\p{N}]/gu;

/** Words, numbers and single other characters of a text, in order, as written. */
export function textTokens(text: string): string[] {
  return text.match(tokenPattern) ?? [];
}

export function isNumber(token: string): boolean {
  return /^-?\d/.test(token);
}

export function isWord(token: string): boolean {
  return /^\p{L}/u.test(token);
}

/** Words and numbers only, lower case: what is compared when one text is looked for in another. */
export function plainTokens(text: string): string[] {
  return textTokens(text)
    .filter((token) => isWord(token) || isNumber(token))
    .map((token) => token.toLowerCase());
}

/** All tokens, lower case: what is compared where an answer is made of other characters only. */
export function lowerTokens(text: string): string[] {
  return textTokens(text).map((token) => token.toLowerCase());
}

/** Every position at which `needle` stands in `haystack` as a run of whole tokens. An empty needle stands nowhere. */
export function occurrences(haystack: readonly string[], needle: readonly string[]): number[] {
  if (needle.length === 0) return [];
  const found: number[] = [];
  for (let at = 0; at + needle.length <= haystack.length; at++) {
    if (needle.every((token, i) => haystack[at + i] === token)) found.push(at);
  }
  return found;
}

/**
 * The choices a text lists, as written: quoted or bracketed pieces, and the items of any line (after its last colon, if
 * it has one) that are separated by commas, semicolons, bars, slashes, "or" or "and". Items have at most six words.
 */
export function listedOptions(text: string): string[] {
  const found = new Set<string>();
  for (const match of text.matchAll(/"([^"\n]{1,60})"|'([^'\n]{1,60})'|`([^`\n]{1,60})`|\[([^[\]\n]{1,60})\]/g)) {
    found.add((match[1] ?? match[2] ?? match[3] ?? match[4] ?? "").trim());
  }
  for (const line of text.split(/\n|[.!?](?=\s|$)/)) {
    const items = line.slice(line.lastIndexOf(":") + 1).split(/[,;|/]|\bor\b|\band\b/);
    if (items.length < 2) continue;
    for (const item of items) found.add(item.replace(/^[\s([{-]*(?:[A-Za-z0-9][).]\s+)?/, "").replace(/[\s)\]}.?!]+$/, ""));
  }
  return [...found].filter((item) => item !== "" && item.split(/\s+/).length <= 6);
}

const stopWords = new Set(
  ("about after again all also and any are because been before between both but can could does down each every few for from get give has have her his how " +
    "into its just like many may more most much must new not now one only other our out over own same she should some such than that the their them then " +
    "there these they this those through two under until use used very was way were what when where which while who will with would you your " +
    "action answer boxed choose correct find format game guess input invalid number numbers reply right round start step steps total turn turns value values word write wrong").split(" "),
);

/** Distinct content words of a text: at least three letters, lower case, plural -s removed, without stop words and words every game uses. */
export function contentWords(text: string): Set<string> {
  const words = new Set<string>();
  for (const match of text.toLowerCase().matchAll(/\p{L}{3,}/gu)) {
    const word = match[0];
    if (stopWords.has(word)) continue;
    words.add(word.length > 3 && /[^s]s$/.test(word) ? word.slice(0, -1) : word);
  }
  return words;
}
