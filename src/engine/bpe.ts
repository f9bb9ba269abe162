import { readFile } from "node:fs/promises";
import { messageOf, SpadeError } from "../core/errors.ts";
import type { SpecialToken, Tokenizer } from "./tokenizer.ts";
import { specialTokens } from "./tokenizer.ts";

/**
 * Byte-level BPE in which a word has the same tokens wherever it stands: the single space between two words is not
 * written but implied by the second word's start mark, so that `mill` in a sentence and `"mill"` in a program are one
 * token sequence, and copying is copying.
 *
 * Ids: the special tokens, then the 256 bytes, then the word-start mark, then one id per merge.
 */
export interface BpeModel {
  /** Pairs of ids in order of priority; merge i makes id `firstMerge + i`. */
  readonly merges: readonly (readonly [number, number])[];
}

const firstByte = specialTokens.length;
const wordStart = firstByte + 256;
const firstMerge = wordStart + 1;
const pairBase = 65536;
const space = 0x20;
const fileFormat = "spade-bpe";
const fileVersion = 1;
const cacheLimit = 50_000;

/**
 * Pieces that merges never cross: an idiom of programs or of answers, one digit, a word (any character beyond ASCII counts as a
 * letter), or a run of everything else, newlines and indentation included.
 */
const pieces =
  /\(self\b(?:, )?|\bself\.|\\boxed\{|[0-9]|[A-Za-z_\u{80}-\u{10ffff}]{1,64}|[^A-Za-z0-9_\u{80}-\u{10ffff}][^A-Za-z0-9_\u{80}-\u{10ffff}(\\]{0,63}/gu;
const wordCharacter = /[A-Za-z_\u{80}-\u{10ffff}]/u;
const wordOrDigit = /[A-Za-z0-9_\u{80}-\u{10ffff}]/u;

/** A piece and whether it starts with the word-start mark. */
type Piece = readonly [text: string, marked: boolean];

function* split(text: string): Generator<Piece> {
  for (const match of text.matchAll(pieces)) {
    const piece = match[0];
    const before = text[match.index - 1] ?? "";
    const after = text[match.index + piece.length] ?? "";
    if (piece === " " && wordOrDigit.test(before) && wordCharacter.test(after)) continue;
    yield [piece, wordCharacter.test(piece[0] ?? "") && !wordOrDigit.test(before)];
  }
}

const utf8 = new TextEncoder();

function symbols([text, marked]: Piece): number[] {
  const ids = Array.from(utf8.encode(text), (byte) => firstByte + byte);
  return marked ? [wordStart, ...ids] : ids;
}

/** Replaces every adjacent pair (a, b) by `merged`. */
function applyMerge(ids: readonly number[], [a, b]: readonly [number, number], merged: number): number[] {
  const result: number[] = [];
  for (let i = 0; i < ids.length; i++) {
    if (ids[i] === a && ids[i + 1] === b) {
      result.push(merged);
      i++;
    } else result.push(ids[i] as number);
  }
  return result;
}

interface CountedPiece {
  ids: number[];
  readonly count: number;
}

/** Occurrences of each adjacent pair, and the pieces that hold it. */
class PairTable {
  readonly counts = new Map<number, number>();
  readonly holders = new Map<number, Set<CountedPiece>>();

  add(piece: CountedPiece, sign: 1 | -1): void {
    for (let i = 0; i + 1 < piece.ids.length; i++) {
      const pair = (piece.ids[i] as number) * pairBase + (piece.ids[i + 1] as number);
      this.counts.set(pair, (this.counts.get(pair) ?? 0) + sign * piece.count);
      if (sign === 1) {
        const holders = this.holders.get(pair) ?? new Set();
        this.holders.set(pair, holders.add(piece));
      }
    }
  }

  /** The most frequent pair (the smallest on ties), or nothing when no pair occurs twice. */
  best(): number | undefined {
    let best: number | undefined;
    let bestCount = 1;
    for (const [pair, count] of this.counts) {
      if (count > bestCount || (count === bestCount && best !== undefined && pair < best)) {
        best = pair;
        bestCount = count;
      }
    }
    return best;
  }
}

function countPieces(texts: Iterable<string>): CountedPiece[] {
  const counted = new Map<string, { piece: Piece; count: number }>();
  for (const text of texts) {
    for (const piece of split(text)) {
      const key = (piece[1] ? "1" : "0") + piece[0];
      const entry = counted.get(key);
      if (entry === undefined) counted.set(key, { piece, count: 1 });
      else entry.count++;
    }
  }
  return [...counted.values()].map(({ piece, count }) => ({ ids: symbols(piece), count }));
}

/** Learns merges until the vocabulary has `vocabularySize` ids or no pair occurs twice. Equal texts give equal merges. */
export function trainBpe(texts: Iterable<string>, vocabularySize: number): BpeModel {
  const table = new PairTable();
  for (const piece of countPieces(texts)) table.add(piece, 1);
  const merges: [number, number][] = [];
  while (firstMerge + merges.length < vocabularySize) {
    const pair = table.best();
    if (pair === undefined) break;
    const merge: [number, number] = [Math.floor(pair / pairBase), pair % pairBase];
    for (const piece of table.holders.get(pair) ?? []) {
      table.add(piece, -1);
      piece.ids = applyMerge(piece.ids, merge, firstMerge + merges.length);
      table.add(piece, 1);
    }
    table.counts.delete(pair);
    table.holders.delete(pair);
    merges.push(merge);
  }
  return { merges };
}

/** Bytes of every id; the word-start mark stands as -1, special tokens are empty. */
function tokenBytes(model: BpeModel): number[][] {
  const bytes: number[][] = specialTokens.map(() => []);
  for (let byte = 0; byte < 256; byte++) bytes.push([byte]);
  bytes.push([-1]);
  for (const [a, b] of model.merges) bytes.push([...(bytes[a] as number[]), ...(bytes[b] as number[])]);
  return bytes;
}

function isWordByte(byte: number): boolean {
  const lower = byte | 0x20;
  return byte >= 0x80 || byte === 0x5f || (lower >= 0x61 && lower <= 0x7a) || (byte >= 0x30 && byte <= 0x39);
}

/** A tokenizer of a trained model. `decode(encode(text))` is `text` for every well-formed string. */
export function bpeTokenizer(model: BpeModel): Tokenizer {
  const bytes = tokenBytes(model);
  const ranks = new Map(model.merges.map(([a, b], rank) => [a * pairBase + b, rank]));
  const cache = new Map<string, readonly number[]>();

  const encodePiece = (piece: Piece): readonly number[] => {
    const key = (piece[1] ? "1" : "0") + piece[0];
    const known = cache.get(key);
    if (known !== undefined) return known;
    const ids = mergeAll(symbols(piece), ranks, model);
    if (cache.size >= cacheLimit) cache.clear();
    cache.set(key, ids);
    return ids;
  };

  return {
    vocabularySize: bytes.length,
    special: Object.fromEntries(specialTokens.map((name, id) => [name, id])) as Record<SpecialToken, number>,
    encode: (text) => {
      const ids: number[] = [];
      for (const piece of split(text)) for (const id of encodePiece(piece)) ids.push(id);
      return Int32Array.from(ids);
    },
    decode: (tokens) => decodeBytes(tokens, bytes),
  };
}

function mergeAll(start: number[], ranks: ReadonlyMap<number, number>, model: BpeModel): number[] {
  let ids = start;
  while (ids.length > 1) {
    let best = Infinity;
    for (let i = 0; i + 1 < ids.length; i++) {
      best = Math.min(best, ranks.get((ids[i] as number) * pairBase + (ids[i + 1] as number)) ?? Infinity);
    }
    const merge = model.merges[best];
    if (merge === undefined) break;
    ids = applyMerge(ids, merge, firstMerge + best);
  }
  return ids;
}

function decodeBytes(tokens: Int32Array | readonly number[], bytes: readonly (readonly number[])[]): string {
  const result: number[] = [];
  let previous = -1;
  for (const token of tokens) {
    if (token < firstByte) previous = -1;
    for (const byte of bytes[token] ?? []) {
      if (byte >= 0) result.push((previous = byte));
      else if (previous >= 0 && isWordByte(previous)) result.push((previous = space));
    }
  }
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(result));
}

/** The text of a `tokenizer.json`. */
export function serialiseBpe(model: BpeModel): string {
  const merges = model.merges.map((merge) => JSON.stringify(merge)).join(",\n");
  return `{"format":"${fileFormat}","version":${fileVersion},"special":${JSON.stringify(specialTokens)},"merges":[\n${merges}\n]}\n`;
}

/** Reads the text of a `tokenizer.json`; `path` names it in errors. @throws engine.tokenizer */
export function parseBpe(text: string, path: string): BpeModel {
  const fail = (problem: string, cause?: unknown): never => {
    const remedy = "Restore the file from the repository, or remake it with `npm run nano:pretrain`.";
    throw new SpadeError("engine.tokenizer", `Cannot use the tokenizer ${path}: ${problem}. ${remedy}`, { details: { path }, cause });
  };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    fail(`it is not JSON (${messageOf(error)})`, error);
  }
  const file = (typeof json === "object" && json !== null ? json : {}) as Partial<Record<"format" | "version" | "special" | "merges", unknown>>;
  if (file.format !== fileFormat) fail(`its format is ${JSON.stringify(file.format)}, expected "${fileFormat}"`);
  if (file.version !== fileVersion) fail(`its version is ${JSON.stringify(file.version)}, this version of spade-rl reads ${fileVersion}`);
  if (JSON.stringify(file.special) !== JSON.stringify(specialTokens)) fail("its special tokens are not those of this version");
  const merges = Array.isArray(file.merges) ? (file.merges as unknown[]) : fail("`merges` is not a list");
  return {
    merges: merges.map((merge, index) => {
      const isId = (id: unknown): id is number => typeof id === "number" && Number.isInteger(id) && id >= firstByte && id < firstMerge + index;
      const [a, b] = Array.isArray(merge) && merge.length === 2 ? (merge as unknown[]) : [];
      return isId(a) && isId(b) ? [a, b] : fail(`merge ${index} is ${JSON.stringify(merge)}, expected two earlier ids`);
    }),
  };
}

/** Loads a `tokenizer.json`. @throws engine.tokenizer when it is missing or malformed */
export async function loadTokenizer(path: string): Promise<Tokenizer> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    const message = `Cannot read the tokenizer ${path}: ${messageOf(error)}. Give the directory of a model made by \`npm run nano:pretrain\`.`;
    throw new SpadeError("engine.tokenizer", message, { details: { path }, cause: error });
  });
  return bpeTokenizer(parseBpe(text, path));
}
