import type { Feed } from "./session.ts";
import { attentionBlock, noToken } from "./transformer.ts";

/** A sequence to pack: its tokens, and the places (≥ 1) of the tokens that carry loss. */
export interface PackItem {
  readonly tokens: Int32Array;
  readonly targets: readonly number[];
}

/** Several sequences laid into a grid of equal rows, with all feeds that depend on the layout alone. */
export interface PackedChunk {
  /** Tokens per row; static in the graph. */
  readonly length: number;
  readonly feeds: Readonly<Record<string, Feed>>;
  /** Which item and which of its tokens each selected position P predicts. */
  readonly predicted: readonly { readonly item: number; readonly token: number }[];
}

interface Row {
  readonly length: number;
  readonly items: readonly number[];
}

const masked = -1e9;

/**
 * Packs items into rows of a few lengths and the rows into chunks of at most `maxTokens` (at least one row each), rows of
 * one length together. Items come at most once and never split.
 */
export function pack(items: readonly PackItem[], options: { contextLength: number; maxTokens: number }): PackedChunk[] {
  const byLength = Map.groupBy(fillRows(items, rowLengths(options.contextLength)), (row) => row.length);
  const lengths = [...byLength.keys()].sort((a, b) => a - b);
  return lengths.flatMap((length) => {
    const rows = byLength.get(length) ?? [];
    const size = Math.max(1, Math.floor(options.maxTokens / length));
    const chunks = Math.ceil(rows.length / size);
    return Array.from({ length: chunks }, (_, i) => layOut(items, rows.slice(i * size, (i + 1) * size), length));
  });
}

/** The row lengths used for a context: one attention block, doubled until a row holds the context. Each has graphs of its own, so they are few. */
export function rowLengths(contextLength: number): number[] {
  if (contextLength <= attentionBlock) return [contextLength];
  const lengths = [attentionBlock];
  for (let length = attentionBlock; length < contextLength; length *= 2) lengths.push(Math.min(length * 2, Math.ceil(contextLength / attentionBlock) * attentionBlock));
  return lengths;
}

function fillRows(items: readonly PackItem[], lengths: readonly number[]): Row[] {
  const sizeOf = (item: number): number => items[item]?.tokens.length ?? 0;
  let waiting = items.map((_, i) => i).sort((a, b) => sizeOf(b) - sizeOf(a));
  const rows: Row[] = [];
  while (waiting[0] !== undefined) {
    const longest = sizeOf(waiting[0]);
    const candidates = lengths.filter((length) => length >= longest).map((length) => greedyRow(waiting, sizeOf, length));
    const best = candidates.reduce((a, b) => (b.value > a.value ? b : a));
    rows.push(best.row);
    const taken = new Set(best.row.items);
    waiting = waiting.filter((item) => !taken.has(item));
  }
  return rows;
}

/** Longest first into one row; the value is the filled share, less for long rows, whose attention costs more. */
function greedyRow(waiting: readonly number[], sizeOf: (item: number) => number, length: number): { row: Row; value: number } {
  const items: number[] = [];
  let used = 0;
  for (const item of waiting) {
    if (used + sizeOf(item) > length) continue;
    items.push(item);
    used += sizeOf(item);
    if (used === length) break;
  }
  return { row: { length, items }, value: used / length / (1 + length / 2048) };
}

function layOut(items: readonly PackItem[], rows: readonly Row[], length: number): PackedChunk {
  const count = rows.length * length;
  const tokens = new Int32Array(count);
  const previous = new Int32Array(count).fill(noToken);
  const positions = new Int32Array(count);
  const starts = new Int32Array(count).map((_, i) => i);
  const predicted: { item: number; token: number }[] = [];
  const index: number[] = [];
  rows.forEach((row, r) => {
    let offset = r * length;
    for (const item of row.items) {
      const { tokens: own = new Int32Array(), targets = [] } = items[item] ?? {};
      tokens.set(own, offset);
      previous.set(own.subarray(0, -1), offset + 1);
      own.forEach((_, t) => ((positions[offset + t] = t), (starts[offset + t] = offset)));
      for (const token of targets) {
        index.push(offset + token - 1);
        predicted.push({ item, token });
      }
      offset += own.length;
    }
  });
  const inverse = new Int32Array(count).fill(index.length);
  index.forEach((place, p) => (inverse[place] = p));
  const target = Int32Array.from(index, (place) => tokens[place + 1] ?? 0);
  const feeds: Record<string, Feed> = {
    tokens: { data: tokens, shape: [count] },
    previous: { data: previous, shape: [count] },
    positions: { data: positions, shape: [rows.length, length] },
    index: { data: Int32Array.from(index), shape: [index.length] },
    inverse: { data: inverse, shape: [count] },
    target: { data: target, shape: [index.length] },
    ...maskFeeds(starts, length),
  };
  return { length, feeds, predicted };
}

/** Additive masks by query block: a token sees its own sequence up to itself (padding sees only itself). */
function maskFeeds(starts: Int32Array, length: number): Record<string, Feed> {
  const block = Math.min(length, attentionBlock);
  const rows = starts.length / length;
  const feeds: Record<string, Feed> = {};
  for (let c = 0; c < length / block; c++) {
    const keys = (c + 1) * block;
    const data = new Float32Array(rows * block * keys).fill(masked);
    for (let i = 0; i < rows * block; i++) {
      const row = Math.floor(i / block);
      const t = c * block + (i % block);
      const start = (starts[row * length + t] ?? 0) - row * length;
      data.fill(0, i * keys + start, i * keys + t + 1);
    }
    feeds[`mask${c}`] = { data, shape: [rows, 1, block, keys] };
  }
  return feeds;
}
