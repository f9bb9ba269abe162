import { SpadeError } from "../core/errors.ts";
import { topological } from "./graph.ts";
import type { BinaryFunction, CompareFunction, Dim, Op, Tensor, UnaryFunction } from "./graph.ts";

/** A value in float64, row-major. Booleans are 0 and 1. */
export interface ReferenceValue {
  readonly shape: readonly number[];
  readonly data: Float64Array;
}

/** Evaluates tensors in float64, one plain loop per op: slow, and the oracle of the tests. */
export function evaluate(outputs: readonly Tensor[], feeds: Readonly<Record<string, ReferenceValue>>): ReferenceValue[] {
  const values = new Map<Tensor, ReferenceValue>();
  const valueOf = (tensor: Tensor): ReferenceValue => {
    const value = values.get(tensor);
    if (value === undefined) throw new SpadeError("internal.graph", `No value for ${tensor.op.kind}. This is a bug in spade-rl; please report it.`);
    return value;
  };
  for (const tensor of topological(outputs)) {
    if (tensor.op.kind === "input") {
      const fed = feeds[tensor.op.name];
      if (fed === undefined) throw new SpadeError("internal.graph", `Input ${tensor.op.name} was not fed. Feed it.`);
      values.set(tensor, fed);
    } else {
      const used = tensor.op.kind === "custom" ? tensor.inputs.slice(0, 1) : tensor.inputs;
      values.set(tensor, apply(tensor.op, used.map(valueOf), tensor.shape));
    }
  }
  return outputs.map(valueOf);
}

const unaryFunctions: Record<UnaryFunction, (x: number) => number> = {
  neg: (x) => -x,
  exp: Math.exp,
  log: Math.log,
  sqrt: Math.sqrt,
  reciprocal: (x) => 1 / x,
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
  square: (x) => x * x,
  silu: (x) => x / (1 + Math.exp(-x)),
};
const binaryFunctions: Record<BinaryFunction | CompareFunction, (a: number, b: number) => number> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  min: Math.min,
  max: Math.max,
  less: (a, b) => Number(a < b),
  greater: (a, b) => Number(a > b),
  equal: (a, b) => Number(a === b),
};

function apply(op: Exclude<Op, { kind: "input" }>, inputs: readonly ReferenceValue[], shape: readonly Dim[]): ReferenceValue {
  const [a, b, c, d] = inputs as [ReferenceValue, ReferenceValue, ReferenceValue, ReferenceValue];
  switch (op.kind) {
    case "constant":
      return { shape: shape as number[], data: Float64Array.from(op.values) };
    case "custom":
    case "cast":
      return a;
    case "unary":
      return { shape: a.shape, data: a.data.map(unaryFunctions[op.fn]) };
    case "binary":
    case "compare": {
      const fn = binaryFunctions[op.fn];
      return broadcast([a, b], (x, y) => fn(x, y));
    }
    case "where":
      return broadcast([a, b, c], (condition, x, y) => (condition ? x : y));
    case "matmul":
      return matmul(op, a, b);
    case "sum":
      return reduceSum(a, op.axes);
    case "reshape":
      return reshape(a, shape);
    case "transpose":
      return fill(op.permutation.map((axis) => at(a.shape, axis)), (index) => {
        const source = new Array<number>(index.length);
        op.permutation.forEach((axis, i) => (source[axis] = at(index, i)));
        return read(a, source);
      });
    case "slice":
      return fill(a.shape.map((size, i) => (i === op.axis ? Math.min(op.end, size) - op.start : size)), (index) => read(a, index.map((x, i) => (i === op.axis ? x + op.start : x))));
    case "concat":
      return concat(inputs, op.axis);
    case "softmax":
      return lastAxis(a, (row) => logSoftmax(row).map(Math.exp));
    case "logSoftmax":
      return lastAxis(a, logSoftmax);
    case "gather":
      return fill([...b.shape, ...a.shape.slice(1)], (index) => read(a, [read(b, index.slice(0, b.shape.length)), ...index.slice(b.shape.length)]));
    case "scatterAdd":
      return scatterAdd(a, b, shape as number[]);
    case "pick":
      return fill([at(a.shape, 0), 1], ([row = 0]) => read(a, [row, read(b, [row])]));
    case "place":
      return fill([at(b.shape, 0), at(shape as number[], 1)], ([row = 0, column]) => (read(a, [row]) === column ? read(b, [row, 0]) : 0));
    case "rotary":
      return rotary(op.inverse, a, b, [c, d]);
  }
}

function at(values: ArrayLike<number>, i: number): number {
  return values[i] ?? NaN;
}

function read(value: ReferenceValue, index: readonly number[]): number {
  let flat = 0;
  value.shape.forEach((size, i) => (flat = flat * size + at(index, i)));
  return at(value.data, flat);
}

function fill(shape: readonly number[], compute: (index: number[]) => number): ReferenceValue {
  const data = new Float64Array(shape.reduce((product, size) => product * size, 1));
  const index = new Array<number>(shape.length).fill(0);
  for (let flat = 0; flat < data.length; flat++) {
    data[flat] = compute(index);
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      index[axis] = at(index, axis) + 1;
      if (at(index, axis) < at(shape, axis)) break;
      index[axis] = 0;
    }
  }
  return { shape, data };
}

function broadcast(inputs: readonly ReferenceValue[], fn: (...values: [number, number, number]) => number): ReferenceValue {
  const rank = Math.max(...inputs.map((value) => value.shape.length));
  const shape = Array.from({ length: rank }, (_, i) => inputs.reduce((size, value) => {
    const own = value.shape[i - rank + value.shape.length] ?? 1;
    return own === 1 ? size : own;
  }, 1));
  return fill(shape, (index) => {
    const values = inputs.map((value) => read(value, value.shape.map((size, i) => (size === 1 ? 0 : at(index, i + rank - value.shape.length)))));
    return fn(at(values, 0), at(values, 1), at(values, 2));
  });
}

function matmul(op: Extract<Op, { kind: "matmul" }>, a: ReferenceValue, b: ReferenceValue): ReferenceValue {
  const [aRows, aColumns] = a.shape.slice(-2) as [number, number];
  const [bRows, bColumns] = b.shape.slice(-2) as [number, number];
  const [rows, inner, columns] = [op.transposeA ? aColumns : aRows, op.transposeA ? aRows : aColumns, op.transposeB ? bRows : bColumns];
  const rank = Math.max(a.shape.length, b.shape.length) - 2;
  const batch = Array.from({ length: rank }, (_, i) => Math.max(a.shape[i - rank + a.shape.length - 2] ?? 1, b.shape[i - rank + b.shape.length - 2] ?? 1));
  const offset = (value: ReferenceValue, index: readonly number[]): number =>
    value.shape.slice(0, -2).reduce((flat, size, i) => flat * size + (size === 1 ? 0 : at(index, i + rank - value.shape.length + 2)), 0);
  return fill([...batch, rows, columns], (index) => {
    const [row, column] = index.slice(-2) as [number, number];
    const [aStart, bStart] = [offset(a, index) * aRows * aColumns, offset(b, index) * bRows * bColumns];
    let total = 0;
    for (let k = 0; k < inner; k++) {
      const x = at(a.data, aStart + (op.transposeA ? k * aColumns + row : row * aColumns + k));
      total += x * at(b.data, bStart + (op.transposeB ? column * bColumns + k : k * bColumns + column));
    }
    return total * op.scale;
  });
}

function reduceSum(a: ReferenceValue, axes: readonly number[]): ReferenceValue {
  const result = fill(a.shape.map((size, i) => (axes.includes(i) ? 1 : size)), () => 0);
  fill(a.shape, (index) => {
    const flat = index.reduce((f, x, i) => f * at(result.shape, i) + (axes.includes(i) ? 0 : x), 0);
    result.data[flat] = at(result.data, flat) + read(a, index);
    return 0;
  });
  return result;
}

function reshape(a: ReferenceValue, shape: readonly Dim[]): ReferenceValue {
  const known = shape.reduce<number>((product, dim) => (typeof dim === "number" ? product * dim : product), 1);
  return { shape: shape.map((dim) => (typeof dim === "number" ? dim : a.data.length / known)), data: a.data };
}

function concat(inputs: readonly ReferenceValue[], axis: number): ReferenceValue {
  const total = inputs.reduce((sum, value) => sum + at(value.shape, axis), 0);
  return fill(inputs[0]?.shape.map((size, i) => (i === axis ? total : size)) ?? [], (index) => {
    let position = at(index, axis);
    for (const value of inputs) {
      const size = at(value.shape, axis);
      if (position < size) return read(value, index.map((x, i) => (i === axis ? position : x)));
      position -= size;
    }
    return NaN;
  });
}

function logSoftmax(row: Float64Array): Float64Array {
  const highest = row.reduce((m, x) => Math.max(m, x), -Infinity);
  const logTotal = highest + Math.log(row.reduce((total, x) => total + Math.exp(x - highest), 0));
  return row.map((x) => x - logTotal);
}

function lastAxis(a: ReferenceValue, fn: (row: Float64Array) => Float64Array): ReferenceValue {
  const width = a.shape.at(-1) ?? 1;
  const data = new Float64Array(a.data.length);
  for (let start = 0; start < data.length; start += width) data.set(fn(a.data.subarray(start, start + width)), start);
  return { shape: a.shape, data };
}

function scatterAdd(index: ReferenceValue, updates: ReferenceValue, shape: readonly number[]): ReferenceValue {
  const result = fill(shape, () => 0);
  const width = updates.data.length / at(updates.shape, 0);
  updates.data.forEach((value, i) => {
    const flat = at(index.data, Math.floor(i / width)) * width + (i % width);
    result.data[flat] = at(result.data, flat) + value;
  });
  return result;
}

function rotary(inverse: boolean, x: ReferenceValue, positions: ReferenceValue, tables: readonly [ReferenceValue, ReferenceValue]): ReferenceValue {
  const half = at(x.shape, 3) / 2;
  return fill(x.shape, ([b = 0, h = 0, t = 0, i = 0]) => {
    const position = read(positions, [b, t]);
    const cos = read(tables[0], [position, i % half]);
    const sin = read(tables[1], [position, i % half]) * (inverse ? -1 : 1);
    const partner = read(x, [b, h, t, i < half ? i + half : i - half]);
    return read(x, [b, h, t, i]) * cos + (i < half ? -partner : partner) * sin;
  });
}
