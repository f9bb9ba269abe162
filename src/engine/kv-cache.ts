import { result } from "./session.ts";
import type { Feed } from "./session.ts";
import type { TransformerConfig } from "./types.ts";

/** Columns by which the cache grows. */
const growth = 64;
const masked = -1e9;

/**
 * Keys and values of a batch of sequences: per layer one array [slots, H, capacity, D], of which the first `rows` slots are
 * in use. A graph only reads it; new columns are written from here.
 */
export class KvCache {
  readonly #config: TransformerConfig;
  readonly #slots: number;
  #layers: { name: string; data: Float32Array }[];
  #capacity = 0;
  /** Tokens held per row. */
  readonly lengths: number[] = [];

  constructor(config: TransformerConfig, slots: number) {
    this.#config = config;
    this.#slots = slots;
    this.#layers = Array.from({ length: config.layers }, (_, i) => [`key${i}`, `value${i}`]).flat().map((name) => ({ name, data: new Float32Array() }));
  }

  get rows(): number {
    return this.lengths.length;
  }

  /** Adds a row from row `from` of prefilled keys and values [B, H, T, D]. */
  addRow(prefilled: Readonly<Record<string, Float32Array>>, at: { from: number; padded: number; length: number }): void {
    const { heads } = this.#config;
    this.#reserve(at.length + 1);
    const row = this.lengths.push(at.length) - 1;
    const size = this.#headSize;
    for (const { name, data } of this.#layers) {
      const source = result(prefilled, name);
      for (let h = 0; h < heads; h++) {
        const start = (at.from * heads + h) * at.padded * size;
        data.set(source.subarray(start, start + at.length * size), (row * heads + h) * this.#capacity * size);
      }
    }
  }

  /** Writes one new column per row: `columns` [rows, 2·layers·H, 1, D]. */
  append(columns: Float32Array): void {
    const { heads } = this.#config;
    const size = this.#headSize;
    this.lengths.forEach((length, row) => {
      this.#layers.forEach(({ data }, layer) => {
        for (let h = 0; h < heads; h++) {
          const from = ((row * this.#layers.length + layer) * heads + h) * size;
          const to = ((row * heads + h) * this.#capacity + length) * size;
          for (let i = 0; i < size; i++) data[to + i] = columns[from + i] as number;
        }
      });
      this.lengths[row] = length + 1;
    });
    this.#reserve(Math.max(0, ...this.lengths) + 1);
  }

  /** Removes a row by moving the last one into its place. */
  removeRow(row: number): void {
    const last = this.lengths.pop() ?? 0;
    if (row === this.lengths.length) return;
    this.lengths[row] = last;
    const stride = this.#config.heads * this.#capacity * this.#headSize;
    for (const { data } of this.#layers) data.copyWithin(row * stride, this.lengths.length * stride, (this.lengths.length + 1) * stride);
  }

  /** Feeds of the step graph: caches and mask, as views where possible. */
  feeds(): Record<string, Feed> {
    const { heads } = this.#config;
    const shape = [this.rows, heads, this.#capacity, this.#headSize];
    const used = this.rows * heads * this.#capacity * this.#headSize;
    const mask = new Float32Array(this.rows * this.#capacity).fill(masked);
    this.lengths.forEach((length, row) => mask.fill(0, row * this.#capacity, row * this.#capacity + length));
    const caches = this.#layers.map(({ name, data }) => [name, { data: data.subarray(0, used), shape }] as const);
    return { ...Object.fromEntries(caches), mask: { data: mask, shape: [this.rows, 1, 1, this.#capacity] } };
  }

  get #headSize(): number {
    return this.#config.width / this.#config.heads;
  }

  #reserve(columns: number): void {
    if (columns <= this.#capacity) return;
    const capacity = Math.ceil(columns / growth) * growth;
    const [from, to] = [this.#capacity * this.#headSize, capacity * this.#headSize];
    this.#layers = this.#layers.map(({ name, data }) => {
      const grown = new Float32Array(this.#slots * this.#config.heads * to);
      for (let i = 0; i < this.rows * this.#config.heads; i++) grown.set(data.subarray(i * from, (i + 1) * from), i * to);
      return { name, data: grown };
    });
    this.#capacity = capacity;
  }
}
