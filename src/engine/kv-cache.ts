import { result } from "./session.ts";
import type { Feed } from "./session.ts";
import type { TransformerConfig } from "./types.ts";

/** Columns by which the cache grows: larger steps once growing means copying much. */
const growth = (columns: number): number => (columns > 256 ? 128 : 64);
const masked = -1e9;

/** One layer's keys or values: [slots, H, capacity, D]. */
interface Store {
  readonly name: string;
  data: Float32Array;
}

/**
 * Keys and values of a batch of sequences, of which the first `rows` slots are in use. A graph only reads it; new columns
 * are written from here.
 */
export class KvCache {
  readonly #config: TransformerConfig;
  readonly #slots: number;
  readonly #stores: readonly Store[];
  #capacity = 0;
  /** Tokens held per row. */
  readonly lengths: number[] = [];

  constructor(config: TransformerConfig, slots: number) {
    this.#config = config;
    this.#slots = slots;
    const names = Array.from({ length: config.layers }, (_, i) => [`key${i}`, `value${i}`]).flat();
    this.#stores = names.map((name) => ({ name, data: new Float32Array() }));
  }

  /** Adds a row from row `from` of prefilled keys and values [B, H, T, D], T = `padded`. */
  addRow(prefilled: Readonly<Record<string, Float32Array>>, at: { from: number; padded: number; length: number }): void {
    this.#reserve(at.length + 1);
    const row = this.lengths.push(at.length) - 1;
    const { heads, width } = this.#config;
    const size = width / heads;
    for (const { name, data } of this.#stores) {
      const source = result(prefilled, name);
      for (let h = 0; h < heads; h++) {
        const start = (at.from * heads + h) * at.padded * size;
        data.set(source.subarray(start, start + at.length * size), (row * heads + h) * this.#capacity * size);
      }
    }
  }

  /** Writes one new column per row: `columns` [rows, 2·layers·width], keys before values in each layer. */
  append(columns: Float32Array): void {
    const { heads, width } = this.#config;
    const size = width / heads;
    let from = 0;
    this.lengths.forEach((length, row) => {
      for (const { data } of this.#stores) {
        for (let h = 0; h < heads; h++) {
          const to = ((row * heads + h) * this.#capacity + length) * size;
          for (let i = 0; i < size; i++) data[to + i] = columns[from++] as number;
        }
      }
      this.lengths[row] = length + 1;
    });
    this.#reserve(Math.max(0, ...this.lengths) + 1);
  }

  /** Removes a row by moving the last one into its place. */
  removeRow(row: number): void {
    const last = this.lengths.pop() ?? 0;
    const end = this.lengths.length;
    if (row === end) return;
    this.lengths[row] = last;
    const stride = this.#config.width * this.#capacity;
    for (const { data } of this.#stores) {
      data.copyWithin(row * stride, end * stride, (end + 1) * stride);
    }
  }

  /** Feeds of the step graph: caches as views, and the mask. */
  feeds(): Record<string, Feed> {
    const rows = this.lengths.length;
    const { heads, width } = this.#config;
    const mask = new Float32Array(rows * this.#capacity).fill(masked);
    this.lengths.forEach((length, row) => mask.fill(0, row * this.#capacity, row * this.#capacity + length));
    const feeds: Record<string, Feed> = { mask: { data: mask, shape: [rows, 1, 1, this.#capacity] } };
    const shape = [rows, heads, this.#capacity, width / heads];
    for (const { name, data } of this.#stores) feeds[name] = { data: data.subarray(0, rows * width * this.#capacity), shape };
    return feeds;
  }

  #reserve(columns: number): void {
    if (columns <= this.#capacity) return;
    const capacity = Math.ceil(columns / growth(columns)) * growth(columns);
    const { heads, width } = this.#config;
    const [from, to] = [(this.#capacity * width) / heads, (capacity * width) / heads];
    for (const store of this.#stores) {
      const grown = new Float32Array(this.#slots * heads * to);
      for (let i = 0; i < this.lengths.length * heads; i++) grown.set(store.data.subarray(i * from, (i + 1) * from), i * to);
      store.data = grown;
    }
    this.#capacity = capacity;
  }
}
