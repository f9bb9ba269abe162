import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** Families whose templates are reproduced in `templates/`. */
export type TinyModelFamily = "chatml" | "qwen25" | "qwen3" | "llama3";

interface Family {
  readonly control: readonly string[];
  /** Added tokens that are no control tokens: a text may hold them. */
  readonly plain: readonly string[];
  readonly eos: string;
  readonly bos?: string;
  /** `eos_token_id` of generation_config.json, by token. */
  readonly ends: readonly string[];
  readonly pattern: string;
}

const qwen: Family = {
  control: ["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
  plain: ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"],
  eos: "<|im_end|>",
  ends: ["<|im_end|>", "<|endoftext|>"],
  pattern: "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
};

const families: Readonly<Record<TinyModelFamily, Family>> = {
  chatml: { ...qwen, plain: [], ends: [], eos: "<|endoftext|>" },
  qwen25: qwen,
  qwen3: qwen,
  llama3: {
    control: ["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>", "<|eot_id|>", "<|python_tag|>"],
    plain: [],
    eos: "<|eot_id|>",
    bos: "<|begin_of_text|>",
    ends: ["<|end_of_text|>", "<|eom_id|>", "<|eot_id|>"],
    pattern: qwen.pattern.replace("|\\p{N}|", "|\\p{N}{1,3}|"),
  },
};

/** Merges as a trained tokenizer has them: letters of words, a space with a word, line breaks, punctuation with a line break. */
const words = [" the", " answer", " north", "think", "user", "assistant", "system", "boxed", " is", " of", "go", "call", "tool"];
const pairs: readonly (readonly [string, string])[] = [["\n", "\n"], [">", "\n"], ["}", "}"], [".", "\n"], ["<", "|"], ["|", ">"], ["1", "2"], ["\\", "boxed"], ["\\boxed", "{"]];

const written: string[] = [];
afterAll(() => {
  for (const directory of written) rmSync(directory, { recursive: true });
});

export interface TinyModelChanges {
  readonly template?: string;
  readonly config?: object;
  readonly tokenizer?: object;
  /** Texts that are one token each, behind the family's own. */
  readonly added?: readonly string[];
}

/** Writes a directory with a tiny byte-level BPE tokenizer and the family's template, as Hugging Face lays one out; it is removed after the test file that imports this. */
export function writeTinyModel(family: TinyModelFamily, changes: TinyModelChanges = {}): string {
  const { control, eos, bos, ends, pattern } = families[family];
  const plain = [...families[family].plain, ...(changes.added ?? [])];
  const { vocabulary, merges } = bytePairs();
  const added = [...control.map((content) => ({ content, special: true })), ...plain.map((content) => ({ content, special: false }))];
  const id = (token: string): number => vocabulary.size + added.findIndex(({ content }) => content === token);
  const tokenizer = {
    version: "1.0",
    added_tokens: added.map(({ content, special }) => ({ id: id(content), content, special, single_word: false, lstrip: false, rstrip: false, normalized: false })),
    normalizer: family === "llama3" ? null : { type: "NFC" },
    pre_tokenizer: { type: "Sequence", pretokenizers: [{ type: "Split", pattern: { Regex: pattern }, behavior: "Isolated", invert: false }, { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false }] },
    post_processor: { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
    decoder: { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
    model: { type: "BPE", dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null, fuse_unk: false, byte_fallback: false, ignore_merges: family === "llama3", vocab: Object.fromEntries(vocabulary), merges },
    ...changes.tokenizer,
  };
  const directory = mkdtempSync(join(tmpdir(), `spade-tiny-${family}-`));
  written.push(directory);
  const write = (name: string, content: object): void => writeFileSync(join(directory, name), JSON.stringify(content));
  write("tokenizer.json", tokenizer);
  write("tokenizer_config.json", { eos_token: eos, ...(bos === undefined ? {} : { bos_token: bos }), clean_up_tokenization_spaces: true, ...changes.config });
  if (ends.length > 0) write("generation_config.json", { eos_token_id: ends.map(id) });
  writeFileSync(join(directory, "chat_template.jinja"), changes.template ?? readFileSync(new URL(`templates/${family}.jinja`, import.meta.url), "utf8"));
  return directory;
}

/** Vocabulary and merges over the letters that stand for bytes. */
function bytePairs(): { readonly vocabulary: ReadonlyMap<string, number>; readonly merges: readonly (readonly [string, string])[] } {
  const letters = byteLetters();
  const spelled = (text: string): string[] => Array.from(new TextEncoder().encode(text), (byte) => letters[byte] ?? "");
  const tokens = new Set(letters);
  const merges = new Map<string, readonly [string, string]>();
  const merge = (left: string, right: string): string => {
    tokens.add(left + right);
    merges.set(`${left} ${right}`, [left, right]);
    return left + right;
  };
  for (const word of words) spelled(word).reduce(merge);
  for (const [left, right] of pairs) merge(spelled(left).join(""), spelled(right).join(""));
  return { vocabulary: new Map([...tokens].map((token, id) => [token, id])), merges: [...merges.values()] };
}

/** The printable letter that stands for each byte in byte-level BPE: itself where it is printable Latin-1, else the next free one from U+0100. */
function byteLetters(): string[] {
  const printable = (byte: number): boolean => (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad);
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(printable(byte) ? byte : next++));
}
