import { SpadeError } from "../core/errors.ts";

/** A static size, or the name of a size known only when the graph runs. */
export type Dim = number | string;
export type ElementType = "f32" | "i32" | "bool";
export type UnaryFunction = "neg" | "exp" | "log" | "sqrt" | "reciprocal" | "sigmoid" | "square" | "silu";
export type BinaryFunction = "add" | "sub" | "mul" | "div" | "min" | "max";
export type CompareFunction = "less" | "greater" | "equal";

/** Gradients of the inputs, given that of the output; undefined where none flows. */
export type VectorJacobianProduct = (outputGradient: Tensor) => readonly (Tensor | undefined)[];

/** The whole op set. Every op has a meaning in `reference.ts`, a lowering in `onnx.ts` and a gradient in `gradients.ts`. */
export type Op =
  | { readonly kind: "input"; readonly name: string }
  | { readonly kind: "constant"; readonly values: readonly number[] }
  | { readonly kind: "unary"; readonly fn: UnaryFunction }
  | { readonly kind: "binary"; readonly fn: BinaryFunction }
  | { readonly kind: "compare"; readonly fn: CompareFunction }
  | { readonly kind: "where" }
  | { readonly kind: "cast" }
  | { readonly kind: "matmul"; readonly transposeA: boolean; readonly transposeB: boolean; readonly scale: number }
  | { readonly kind: "sum"; readonly axes: readonly number[] }
  | { readonly kind: "reshape" }
  | { readonly kind: "transpose"; readonly permutation: readonly number[] }
  | { readonly kind: "slice"; readonly axis: number; readonly start: number; readonly end: number }
  | { readonly kind: "concat"; readonly axis: number }
  | { readonly kind: "softmax" }
  | { readonly kind: "logSoftmax" }
  | { readonly kind: "gather" }
  | { readonly kind: "scatterAdd" }
  | { readonly kind: "pick" }
  | { readonly kind: "place" }
  | { readonly kind: "rotary"; readonly inverse: boolean }
  | { readonly kind: "custom"; readonly vjp: VectorJacobianProduct };

/** A node of the graph: an op and what it is applied to. Nodes are immutable and shared by reference. */
export interface Tensor {
  readonly op: Op;
  readonly inputs: readonly Tensor[];
  readonly shape: readonly Dim[];
  readonly type: ElementType;
}

/** Named results of a graph; its inputs are found from them. */
export type Outputs = Readonly<Record<string, Tensor>>;

export function node(op: Op, inputs: readonly Tensor[], shape: readonly Dim[], type: ElementType = "f32"): Tensor {
  return { op, inputs, shape, type };
}

export const input = (name: string, shape: readonly Dim[], type: ElementType = "f32"): Tensor => node({ kind: "input", name }, [], shape, type);

/** A constant: one value filling a scalar, or all values of `shape` in row-major order. */
export function constant(values: number | readonly number[], shape: readonly number[] = []): Tensor {
  return node({ kind: "constant", values: typeof values === "number" ? [values] : values }, [], shape);
}

const unary =
  (fn: UnaryFunction) =>
  (x: Tensor): Tensor =>
    node({ kind: "unary", fn }, [x], x.shape);
export const neg = unary("neg");
export const exp = unary("exp");
export const log = unary("log");
export const sqrt = unary("sqrt");
export const reciprocal = unary("reciprocal");
export const sigmoid = unary("sigmoid");
export const square = unary("square");
export const silu = unary("silu");

type Operand = Tensor | number;
const operand = (x: Operand): Tensor => (typeof x === "number" ? constant(x) : x);
const binary =
  (fn: BinaryFunction) =>
  (a: Operand, b: Operand): Tensor => {
    const [x, y] = [operand(a), operand(b)];
    return node({ kind: "binary", fn }, [x, y], broadcastShape(x.shape, y.shape));
  };
export const add = binary("add");
export const sub = binary("sub");
export const mul = binary("mul");
export const div = binary("div");
export const min = binary("min");
export const max = binary("max");

const compare =
  (fn: CompareFunction) =>
  (a: Operand, b: Operand): Tensor => {
    const [x, y] = [operand(a), operand(b)];
    return node({ kind: "compare", fn }, [x, y], broadcastShape(x.shape, y.shape), "bool");
  };
export const less = compare("less");
export const greater = compare("greater");
export const equal = compare("equal");

/** `a` where the condition holds, else `b`. */
export function where(condition: Tensor, a: Operand, b: Operand): Tensor {
  const [x, y] = [operand(a), operand(b)];
  return node({ kind: "where" }, [condition, x, y], broadcastShape(condition.shape, broadcastShape(x.shape, y.shape)));
}

/** Booleans or integers as numbers. */
export const cast = (x: Tensor): Tensor => node({ kind: "cast" }, [x], x.shape);

/** `scale · op(a) · op(b)` over the last two axes; leading axes broadcast. */
export function matmul(a: Tensor, b: Tensor, options: { transposeA?: boolean; transposeB?: boolean; scale?: number } = {}): Tensor {
  const { transposeA = false, transposeB = false, scale = 1 } = options;
  const [rows, inner] = lastTwo(a, transposeA);
  const [inner2, columns] = lastTwo(b, transposeB);
  if (inner !== inner2) throw shapeError("matmul", a, b);
  const shape = [...broadcastShape(a.shape.slice(0, -2), b.shape.slice(0, -2)), rows, columns];
  return node({ kind: "matmul", transposeA, transposeB, scale }, [a, b], shape);
}

/** Sum over `axes` (not negative), which are kept with size 1. */
export const sum = (x: Tensor, axes: readonly number[]): Tensor => node({ kind: "sum", axes }, [x], x.shape.map((d, i) => (axes.includes(i) ? 1 : d)));

/** Mean over the last axis, which is kept and of static size. */
export const meanLast = (x: Tensor): Tensor => mul(sum(x, [x.shape.length - 1]), 1 / staticDim(x, x.shape.length - 1));

/** `shape` has at most one dynamic size; element counts must agree when run. */
export const reshape = (x: Tensor, shape: readonly Dim[]): Tensor => node({ kind: "reshape" }, [x], shape, x.type);

export const transpose = (x: Tensor, permutation: readonly number[]): Tensor =>
  node({ kind: "transpose", permutation }, [x], permutation.map((axis) => x.shape[axis] ?? 1), x.type);

/** Positions `start` to `end` of `axis`; `size` names the result's size where `end` may lie beyond a dynamic one. */
export function slice(x: Tensor, axis: number, ...[start, end, size = end - start]: readonly [start: number, end: number, size?: Dim]): Tensor {
  if (start === 0 && end === x.shape[axis]) return x;
  return node({ kind: "slice", axis, start, end }, [x], x.shape.map((d, i) => (i === axis ? size : d)), x.type);
}

/** Joins along `axis`; one dynamic size on that axis makes the result's size the dynamic `size`. */
export function concat(parts: readonly Tensor[], axis: number, size?: Dim): Tensor {
  const [first] = parts;
  if (first === undefined) throw new SpadeError("internal.graph", "concat of no tensors. This is a bug in spade-rl; please report it.");
  if (parts.length === 1) return first;
  const total = size ?? parts.reduce((sumSoFar, part) => sumSoFar + staticDim(part, axis), 0);
  return node({ kind: "concat", axis }, parts, first.shape.map((d, i) => (i === axis ? total : d)), first.type);
}

/** Over the last axis. */
export const softmax = (x: Tensor): Tensor => node({ kind: "softmax" }, [x], x.shape);
/** Over the last axis. */
export const logSoftmax = (x: Tensor): Tensor => node({ kind: "logSoftmax" }, [x], x.shape);

/** Rows of `table` [V, ...] at `index` [n] (i32). */
export const gather = (table: Tensor, index: Tensor): Tensor => node({ kind: "gather" }, [table, index], [...index.shape, ...table.shape.slice(1)], table.type);

/** Zeros [rows, d] to which `updates` [n, d] are added at `index` [n]. */
export const scatterAdd = (index: Tensor, updates: Tensor, rows: number): Tensor => node({ kind: "scatterAdd" }, [index, updates], [rows, ...updates.shape.slice(1)]);

/** `x` [n, V] at column `index` [n]: shape [n, 1]. */
export const pick = (x: Tensor, index: Tensor): Tensor => node({ kind: "pick" }, [x, index], [x.shape[0] ?? 1, 1]);

/** Zeros [n, size] with `values` [n, 1] at column `index` [n]. */
export const place = (index: Tensor, values: Tensor, size: number): Tensor => node({ kind: "place" }, [index, values], [values.shape[0] ?? 1, size]);

/** Rotary position embedding of `x` [B, H, T, D] at `positions` [B, T] with tables [contextLength, D / 2]; `inverse` turns back. */
export function rotary(x: Tensor, positions: Tensor, tables: { cos: Tensor; sin: Tensor }, inverse = false): Tensor {
  return node({ kind: "rotary", inverse }, [x, positions, tables.cos, tables.sin], x.shape);
}

/** `value`, which was computed from `from`, with a gradient of its own: autodiff goes to `from` directly. */
export const custom = (value: Tensor, from: readonly Tensor[], vjp: VectorJacobianProduct): Tensor => node({ kind: "custom", vjp }, [value, ...from], value.shape, value.type);

export function staticDim(x: Tensor, axis: number): number {
  const dim = x.shape[axis];
  if (typeof dim !== "number") throw new SpadeError("internal.graph", `Axis ${axis} of [${x.shape.join(", ")}] must have a static size. This is a bug in spade-rl; please report it.`);
  return dim;
}

/** Shape of an elementwise result. @throws SpadeError internal.graph */
export function broadcastShape(a: readonly Dim[], b: readonly Dim[]): Dim[] {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, i) => {
    const x = a[i - rank + a.length] ?? 1;
    const y = b[i - rank + b.length] ?? 1;
    if (x !== y && x !== 1 && y !== 1) throw new SpadeError("internal.graph", `Shapes [${a.join(", ")}] and [${b.join(", ")}] do not broadcast. This is a bug in spade-rl; please report it.`);
    return x === 1 ? y : x;
  });
}

/** Every node the given ones need, inputs before users. */
export function topological(outputs: readonly Tensor[]): Tensor[] {
  const order: Tensor[] = [];
  const seen = new Set<Tensor>();
  const visit = (tensor: Tensor): void => {
    if (seen.has(tensor)) return;
    seen.add(tensor);
    (tensor.op.kind === "custom" ? tensor.inputs.slice(0, 1) : tensor.inputs).forEach(visit);
    order.push(tensor);
  };
  outputs.forEach(visit);
  return order;
}

/** Multiplications and additions of all matrix products, for given dynamic sizes. */
export function matmulFlops(outputs: Outputs, sizes: Readonly<Record<string, number>>): number {
  const size = (dim: Dim | undefined): number => (typeof dim === "string" ? (sizes[dim] ?? NaN) : (dim ?? 1));
  return topological(Object.values(outputs)).reduce((total, { op, inputs, shape }) => {
    if (op.kind !== "matmul") return total;
    const inner = inputs[0]?.shape.at(op.transposeA ? -2 : -1);
    return total + 2 * size(inner) * shape.reduce<number>((product, dim) => product * size(dim), 1);
  }, 0);
}

function lastTwo(x: Tensor, transposed: boolean): [Dim, Dim] {
  const [rows, columns] = x.shape.slice(-2);
  if (rows === undefined || columns === undefined) throw shapeError("matmul", x, x);
  return transposed ? [columns, rows] : [rows, columns];
}

function shapeError(what: string, a: Tensor, b: Tensor): SpadeError {
  return new SpadeError("internal.graph", `${what} of [${a.shape.join(", ")}] and [${b.shape.join(", ")}] does not fit. This is a bug in spade-rl; please report it.`);
}
