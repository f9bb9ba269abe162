import { Rng, deriveSeed } from "../core/seed.ts";

/** Rows of one source at most: row numbers and priorities are below it. */
export const maxRows = 2 ** 40;
const half = 2 ** 20;
const rounds = 6;

/**
 * A seeded permutation of [0, `maxRows`): the priority of each row of a source. The rows of lowest priority are a uniform sample, and
 * which they are depends on nothing but the seed, the source's position and the row's number: not on how the rows are stored.
 */
export function rowPriority(seed: number, source: number): (row: number) => number {
  const keys = Array.from({ length: rounds }, (_, round) => deriveSeed(seed, "corpus-sample", source, round));
  return (row) => {
    let left = Math.floor(row / half);
    let right = row % half;
    for (const key of keys) [left, right] = [right, left ^ mix(right, key)];
    return left * half + right;
  };
}

/** Twenty well mixed bits of a half and a key. */
function mix(value: number, key: number): number {
  let x = Math.imul(value ^ key, 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 15), 0xc2b2ae35);
  return ((x ^ (x >>> 13)) >>> 0) >>> 12;
}

/** The `count`-th lowest priority above `above` among the rows [0, rows); infinite when there are fewer. Holds 2 x `count` numbers. */
export function lowestPriority(rows: number, priority: (row: number) => number, { count, above }: { readonly count: number; readonly above: number }): number {
  const kept = new Float64Array(2 * count);
  let size = 0;
  let bound = Infinity;
  const shrink = (): void => {
    kept.subarray(0, size).sort();
    size = Math.min(size, count);
    if (size === count) bound = kept[count - 1] ?? Infinity;
  };
  for (let row = 0; row < rows; row++) {
    const value = priority(row);
    if (value <= above || value >= bound) continue;
    kept[size++] = value;
    if (size === kept.length) shrink();
  }
  shrink();
  return bound;
}

/** Names one draw: the `index`-th design task of an iteration with `perIteration` tasks. */
export interface Draw {
  readonly seed: number;
  readonly iteration: number;
  readonly index: number;
  readonly perIteration: number;
}

/** Draws without replacement: the n-th draw of a run is the n-th place of an endless row of shuffles, each named by its epoch. Holds 4 bytes a document. */
export function epochPositions(size: number): (draw: Draw) => number {
  let cached: { readonly name: string; readonly order: Uint32Array } | undefined;
  return ({ seed, iteration, index, perIteration }) => {
    const count = iteration * perIteration + index;
    const epoch = Math.floor(count / size);
    const name = `${seed}/${epoch}`;
    if (cached?.name !== name) cached = { name, order: shuffled(size, new Rng(deriveSeed(seed, "corpus", epoch))) };
    return cached.order[count % size] ?? 0;
  };
}

function shuffled(size: number, rng: Rng): Uint32Array {
  const order = new Uint32Array(size);
  for (let i = 0; i < size; i++) order[i] = i;
  for (let i = size - 1; i > 0; i--) {
    const j = rng.int(0, i);
    const held = order[i] ?? 0;
    order[i] = order[j] ?? 0;
    order[j] = held;
  }
  return order;
}
