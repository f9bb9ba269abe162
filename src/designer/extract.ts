import type { Extraction, Language, Repair } from "../core/environment.ts";

/**
 * Takes the last complete block in the language asked for of a designer's reply. In Python a fence closes a block only
 * where it is not inside a triple-quoted string. Blocks tagged with a language are preferred to untagged ones; an unclosed block is not taken.
 */
export function extractProgram(text: string, language: Language = "python"): Extraction {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const { blocks, unclosed } = codeBlocks(lines, language);
  const block = blocks.findLast((b) => tags[language].test(b.tag)) ?? blocks.findLast((b) => b.tag === "");
  if (block === undefined) {
    return unclosed
      ? { ok: false, code: "unclosed", message: "The code block is never closed; the reply was probably cut off. Raise the token limit or shorten the program." }
      : { ok: false, code: "no-block", message: `The reply holds no ${language} code block. Expected \`\`\`${language} … \`\`\`.` };
  }
  const source = `${block.body.join("\n").trim()}\n`;
  if (source === "\n") return { ok: false, code: "empty", message: "The last code block is empty. Expected a class with reset and step." };
  return { ok: true, program: { language, source }, repairs: language === "python" ? repairs(source) : [] };
}

const tags: Readonly<Record<Language, RegExp>> = { python: /^(?:python3?|py)$/i, typescript: /^(?:typescript|ts|mts|javascript|js|mjs)$/i };

interface Block {
  readonly tag: string;
  readonly body: readonly string[];
}

function codeBlocks(lines: readonly string[], language: Language): { blocks: Block[]; unclosed: boolean } {
  const blocks: Block[] = [];
  let index = 0;
  while (index < lines.length) {
    const opening = /^ {0,3}(`{3,})\s*([\w+-]*)\s*$/.exec(lines[index] ?? "");
    index++;
    if (opening === null) continue;
    const end = closingFence(lines, { start: index, length: (opening[1] ?? "").length, language });
    if (end === undefined) return { blocks, unclosed: true };
    blocks.push({ tag: opening[2] ?? "", body: lines.slice(index, end) });
    index = end + 1;
  }
  return { blocks, unclosed: false };
}

/** Index of the line that closes a block whose body starts at `start`. */
function closingFence(lines: readonly string[], { start, length, language }: { start: number; length: number; language: Language }): number | undefined {
  let quote = "";
  for (let index = start; index < lines.length; index++) {
    const line = lines[index] ?? "";
    const fence = /^ {0,3}(`{3,})\s*$/.exec(line);
    if (quote === "" && fence !== null && (fence[1] ?? "").length >= length) return index;
    // A template string of TypeScript cannot hold a fence: backticks end it.
    if (language === "python") quote = openTripleQuote(line, quote);
  }
  return undefined;
}

/** The triple quote that is open at the end of a line, given the one open at its start ("" for none). */
function openTripleQuote(line: string, atStart: string): string {
  let quote = atStart;
  for (let i = 0; i < line.length; i++) {
    const char = line[i] ?? "";
    if (char === "\\") i++;
    else if (quote === "" && char === "#") return "";
    else if (quote === "" && (char === '"' || char === "'")) {
      quote = line.startsWith(char.repeat(3), i) ? char.repeat(3) : char;
      i += quote.length - 1;
    } else if (quote !== "" && line.startsWith(quote, i)) {
      i += quote.length - 1;
      quote = "";
    }
  }
  return quote.length === 3 ? quote : "";
}

/** Braces of `\boxed{…}` left single in an f-string: the one slip that is common and safe to undo. */
function repairs(source: string): Repair[] {
  const repaired = source
    .split("\n")
    .map((line) => (/\b[rR]?[fF][rR]?["']/.test(line) ? line.replace(/(\\boxed\s*)\{([^{}]*)\}(?!\})/g, "$1{{$2}}") : line))
    .join("\n");
  return repaired === source ? [] : [{ name: "fstring-braces", program: { language: "python", source: repaired } }];
}
