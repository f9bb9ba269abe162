import { SpadeError } from "../core/errors.ts";
import { Rng } from "../core/seed.ts";
import { add, concat, constant, custom, exp, gather, input, logSoftmax, matmul, meanLast, mul, pick, reciprocal, reshape, rotary, scatterAdd, sigmoid, silu, slice, softmax, sqrt, square, staticDim, sub, sum, transpose } from "./graph.ts";
import type { Tensor } from "./graph.ts";
import type { TransformerConfig } from "./types.ts";

const normEpsilon = 1e-5;

/** Queries per block of the training attention; longer rows are multiples of it. */
export const attentionBlock = 128;

export interface ParameterSpec {
  readonly name: string;
  readonly shape: readonly number[];
  /** Norm gains: they start at one and do not decay. */
  readonly gain: boolean;
}

/** The parameters in the order of the flat weight vector: matrices first, gains last. */
export function parameterSpecs(config: TransformerConfig): ParameterSpec[] {
  const { vocabularySize, width, feedForward } = config;
  const layers = Array.from({ length: config.layers }, (_, i) => `layers.${i}.`);
  const matrix = (name: string, ...shape: number[]): ParameterSpec => ({ name, shape, gain: false });
  const gain = (name: string): ParameterSpec => ({ name, shape: [width], gain: true });
  return [
    matrix("embedding", vocabularySize, width),
    matrix("previousEmbedding", vocabularySize, width),
    ...layers.flatMap((layer) => [
      ...["query", "key", "value", "output"].map((name) => matrix(layer + name, width, width)),
      matrix(`${layer}gate`, width, feedForward),
      matrix(`${layer}up`, width, feedForward),
      matrix(`${layer}down`, feedForward, width),
    ]),
    ...layers.flatMap((layer) => [gain(`${layer}attentionNorm`), gain(`${layer}feedForwardNorm`)]),
    gain("finalNorm"),
  ];
}

export const sizeOf = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

/** Checks a configuration. @throws SpadeError engine.config */
export function checkConfig(config: TransformerConfig): void {
  const whole = ["vocabularySize", "width", "layers", "heads", "feedForward", "contextLength"] as const;
  const bad = whole.find((key) => !Number.isInteger(config[key]) || config[key] < 1);
  const complain = (what: string): never => {
    throw new SpadeError("engine.config", `The transformer's configuration is invalid: ${what}. Correct config.json.`, { details: { config } });
  };
  if (bad !== undefined) complain(`${bad} is ${config[bad]}, expected a whole number of at least 1`);
  if (config.width % (2 * config.heads) !== 0) complain(`width ${config.width} must be a multiple of 2 · heads (${2 * config.heads})`);
  if (!(config.ropeBase > 1)) complain(`ropeBase is ${config.ropeBase}, expected a number above 1`);
}

/** Deviation of the first layer's queries at the start: large enough that a match stands out among a hundred tokens. */
const matchDeviation = 0.08;

/**
 * Initial weights as one flat vector in the order of `parameterSpecs`: normal with deviation 0.02, smaller into the
 * residual stream. The first layer starts as a matcher: a token's query finds the places that come after earlier
 * occurrences of it, because the embedding of the token before is the mirror image of the embedding, and the first
 * layer's keys mirror its queries. From there a small model learns to copy at once instead of late or never.
 */
export function initialWeights(config: TransformerConfig, seed: number): Float32Array {
  const rng = new Rng(seed);
  const specs = parameterSpecs(config);
  const flat = new Float32Array(specs.reduce((total, spec) => total + sizeOf(spec.shape), 0));
  let offset = 0;
  for (const { name, shape, gain } of specs) {
    const residual = name.endsWith(".output") || name.endsWith(".down");
    const deviation = name === "layers.0.query" ? matchDeviation : residual ? 0.02 / Math.sqrt(2 * config.layers) : 0.02;
    for (const end = offset + sizeOf(shape); offset < end; offset++) flat[offset] = gain ? 1 : deviation * normal(rng);
  }
  const tensors = new Map(splitFlat(specs, flat));
  const [embedding, previous] = [tensors.get("embedding"), tensors.get("previousEmbedding")];
  const [query, key] = [tensors.get("layers.0.query"), tensors.get("layers.0.key")];
  const { width } = config;
  previous?.forEach((_, i) => (previous[i] = embedding?.[i - (i % width) + width - 1 - (i % width)] ?? 0));
  key?.forEach((_, i) => (key[i] = query?.[(width - 1 - Math.floor(i / width)) * width + (i % width)] ?? 0));
  return flat;
}

function splitFlat(specs: readonly ParameterSpec[], flat: Float32Array): [string, Float32Array][] {
  let offset = 0;
  return specs.map(({ name, shape }) => [name, flat.subarray(offset, (offset += sizeOf(shape)))]);
}

function normal(rng: Rng): number {
  return Math.sqrt(-2 * Math.log(1 - rng.float())) * Math.cos(2 * Math.PI * rng.float());
}

/** Shape of a rotary table: [positions, headWidth / 2], enough positions for the longest packed row. */
export function tableShape(config: TransformerConfig): [number, number] {
  return [Math.ceil(config.contextLength / attentionBlock) * attentionBlock, config.width / config.heads / 2];
}

/** Rotary tables in the shape of `tableShape`. */
export function rotaryTables(config: TransformerConfig): { cos: Float32Array; sin: Float32Array } {
  const [positions, half] = tableShape(config);
  const angle = (i: number): number => Math.floor(i / half) * config.ropeBase ** (-(i % half) / half);
  const table = (fn: (x: number) => number): Float32Array => Float32Array.from({ length: positions * half }, (_, i) => fn(angle(i)));
  return { cos: table(Math.cos), sin: table(Math.sin) };
}

/** The model's inputs in a graph: every parameter by name, and the rotary tables. */
export interface ModelInputs {
  readonly config: TransformerConfig;
  readonly parameters: ReadonlyMap<string, Tensor>;
  readonly tables: { readonly cos: Tensor; readonly sin: Tensor };
}

export function modelInputs(config: TransformerConfig): ModelInputs {
  return {
    config,
    parameters: new Map(parameterSpecs(config).map(({ name, shape }) => [name, input(name, shape)])),
    tables: { cos: input("cos", tableShape(config)), sin: input("sin", tableShape(config)) },
  };
}

export function parameter(model: ModelInputs, name: string): Tensor {
  const tensor = model.parameters.get(name);
  if (tensor === undefined) throw new SpadeError("internal.graph", `The model has no parameter ${name}. This is a bug in spade-rl; please report it.`);
  return tensor;
}

/** Maps rotated queries (already divided by √D), keys and values [B, H, T, D] to the attention's output of that shape. */
export type Attend = (heads: { q: Tensor; k: Tensor; v: Tensor }, layer: number) => Tensor;

/** What a run of the layers is fed: token ids, at each place the id of the token before it (`noToken` at the start), positions. */
export interface TokenGrid {
  readonly tokens: Tensor;
  readonly previous: Tensor;
  readonly positions: Tensor;
}

/** Id that stands before a sequence's first token: the pad token, which occurs in no sequence. */
export const noToken = 0;

/**
 * All layers: token ids [N] to normalised hidden states [N, width]. A token enters with an embedding of its own and one of
 * the token before it, so that a single layer can find "what came after this token earlier" and copy it: without that,
 * a small model needs a multiple of the data to learn to copy.
 */
export function hiddenStates(model: ModelInputs, grid: TokenGrid, attend: Attend): Tensor {
  let x = add(gather(parameter(model, "embedding"), grid.tokens), gather(parameter(model, "previousEmbedding"), grid.previous));
  for (let layer = 0; layer < model.config.layers; layer++) {
    x = add(x, attention(model, x, { layer, positions: grid.positions, attend }));
    x = add(x, feedForward(model, x, layer));
  }
  return normalise(x);
}

/** The output matrix [V, width]: the tied embedding with the final norm's gain folded in. */
export const outputMatrix = (model: ModelInputs): Tensor => mul(parameter(model, "embedding"), parameter(model, "finalNorm"));

function attention(model: ModelInputs, x: Tensor, at: { layer: number; positions: Tensor; attend: Attend }): Tensor {
  const { width, heads } = model.config;
  const [batch = 1, length = 1] = at.positions.shape;
  const prefix = `layers.${at.layer}.`;
  const h = normalise(x);
  const split = (name: string, scale = 1): Tensor => {
    const matrix = gained(model, prefix + name, `${prefix}attentionNorm`);
    const projected = matmul(h, scale === 1 ? matrix : mul(matrix, scale));
    return transpose(reshape(projected, [batch, length, heads, width / heads]), [0, 2, 1, 3]);
  };
  const turned = (x: Tensor): Tensor => rotary(x, at.positions, model.tables);
  const mixed = at.attend({ q: turned(split("query", Math.sqrt(heads / width))), k: turned(split("key")), v: split("value") }, at.layer);
  const joined = reshape(transpose(mixed, [0, 2, 1, 3]), x.shape);
  return matmul(joined, parameter(model, `${prefix}output`));
}

function feedForward(model: ModelInputs, x: Tensor, layer: number): Tensor {
  const prefix = `layers.${layer}.`;
  const h = normalise(x);
  const gate = matmul(h, gained(model, `${prefix}gate`, `${prefix}feedForwardNorm`));
  const up = matmul(h, gained(model, `${prefix}up`, `${prefix}feedForwardNorm`));
  return matmul(gatedUnit(gate, up), parameter(model, `${prefix}down`));
}

/** A weight matrix with the gain of the norm before it folded into its rows: gains cost nothing per token. */
function gained(model: ModelInputs, matrix: string, gain: string): Tensor {
  return mul(parameter(model, matrix), reshape(parameter(model, gain), [model.config.width, 1]));
}

/** x / root-mean-square(x) over the last axis. */
export function normalise(x: Tensor): Tensor {
  const r = reciprocal(sqrt(add(meanLast(square(x)), normEpsilon)));
  const y = mul(x, r);
  return custom(y, [x], (dy) => [mul(r, sub(dy, mul(y, meanLast(mul(dy, y)))))]);
}

/** silu(gate) · up. */
export function gatedUnit(gate: Tensor, up: Tensor): Tensor {
  const h = silu(gate);
  return custom(mul(h, up), [gate, up], (dy) => {
    const s = sigmoid(gate);
    return [mul(mul(dy, up), add(s, mul(h, sub(1, s)))), mul(dy, h)];
  });
}

/**
 * Masked attention over a static T, in blocks of queries: block c sees only keys up to its own end, which saves up to half
 * of the work of a causal mask. `masks[c]` is added to the scores, shape [B, 1, block, (c + 1) · block].
 */
export function blockAttention(masks: readonly Tensor[]): Attend {
  return ({ q, k, v }) => {
    const length = staticDim(q, 2);
    const block = length / masks.length;
    const rows = (x: Tensor, c: number): Tensor => slice(x, 2, c * block, (c + 1) * block);
    const upTo = (x: Tensor, c: number): Tensor => slice(x, 2, 0, (c + 1) * block);
    const weights = masks.map((mask, c) => softmax(add(matmul(rows(q, c), upTo(k, c), { transposeB: true }), mask)));
    const y = concat(weights.map((p, c) => matmul(p, upTo(v, c))), 2);
    const gradient = (dy: Tensor): [Tensor, Tensor, Tensor] => {
      const inner = sum(mul(dy, y), [3]);
      const ds = weights.map((p, c) => mul(p, sub(matmul(rows(dy, c), upTo(v, c), { transposeB: true }), rows(inner, c))));
      const dk = ds.map((d, c) => matmul(d, rows(q, c), { transposeA: true }));
      const dv = weights.map((p, c) => matmul(p, rows(dy, c), { transposeA: true }));
      const gathered = (parts: readonly Tensor[]): Tensor =>
        concat(masks.map((_, j) => parts.slice(j).map((part) => rows(part, j)).reduce((a, b) => add(a, b))), 2);
      return [concat(ds.map((d, c) => matmul(d, upTo(k, c))), 2), gathered(dk), gathered(dv)];
    };
    return custom(y, [q, k, v], gradient);
  };
}

/** Rows `index` [P] of `x` [N, d], each at most once; `inverse` [N] holds each row's place in `index`, or P. */
export function selectRows(x: Tensor, index: Tensor, inverse: Tensor): Tensor {
  const width = staticDim(x, 1);
  const zeros = constant(new Array<number>(width).fill(0), [1, width]);
  return custom(gather(x, index), [x], (dy) => [gather(concat([dy, zeros], 0, "P + 1"), inverse)]);
}

/** Log-probability [P, 1] of `target` [P] under softmax(h · matrixᵀ), and those [P, V] of all tokens. */
export function tokenLogprobs(h: Tensor, matrix: Tensor, target: Tensor): { all: Tensor; target: Tensor } {
  const all = logSoftmax(matmul(h, matrix, { transposeB: true }));
  const gradient = (dy: Tensor): [Tensor, Tensor] => {
    const p = exp(all);
    const weighted = mul(h, dy);
    const dh = mul(dy, sub(gather(matrix, target), matmul(p, matrix)));
    return [dh, sub(scatterAdd(target, weighted, staticDim(matrix, 0)), matmul(p, weighted, { transposeA: true }))];
  };
  return { all, target: custom(pick(all, target), [h, matrix], gradient) };
}
