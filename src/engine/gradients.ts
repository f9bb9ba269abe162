import { add, concat, constant, div, exp, less, mul, matmul, neg, place, pick, reshape, rotary, gather, greater, reciprocal, scatterAdd, sigmoid, slice, staticDim, sub, sum, transpose, where, cast } from "./graph.ts";
import type { Op, Tensor } from "./graph.ts";

/** Reverse-mode gradients of a scalar `loss` with respect to `targets`; zeros where the loss does not depend on one. */
export function gradients(loss: Tensor, targets: readonly Tensor[]): Tensor[] {
  const order = gradientOrder(loss);
  const needed = dependents(order, new Set(targets));
  const total = new Map<Tensor, Tensor>([[loss, constant(1)]]);
  for (const tensor of order.toReversed()) {
    const incoming = total.get(tensor);
    if (incoming === undefined || !needed.has(tensor)) continue;
    const sources = tensor.op.kind === "custom" ? tensor.inputs.slice(1) : tensor.inputs;
    const outgoing = tensor.op.kind === "custom" ? tensor.op.vjp(incoming) : inputGradients(tensor.op, tensor, incoming);
    sources.forEach((source, i) => {
      const gradient = outgoing[i];
      if (gradient === undefined || !needed.has(source)) return;
      const before = total.get(source);
      total.set(source, before === undefined ? gradient : add(before, gradient));
    });
  }
  return targets.map((target) => total.get(target) ?? mul(target, 0));
}

/** Inputs before users, where a custom node's users see past its value to the inputs it names. */
function gradientOrder(loss: Tensor): Tensor[] {
  const order: Tensor[] = [];
  const seen = new Set<Tensor>();
  const visit = (tensor: Tensor): void => {
    if (seen.has(tensor)) return;
    seen.add(tensor);
    (tensor.op.kind === "custom" ? tensor.inputs.slice(1) : tensor.inputs).forEach(visit);
    order.push(tensor);
  };
  visit(loss);
  return order;
}

function dependents(order: readonly Tensor[], targets: ReadonlySet<Tensor>): Set<Tensor> {
  const result = new Set<Tensor>(targets);
  for (const tensor of order) {
    const sources = tensor.op.kind === "custom" ? tensor.inputs.slice(1) : tensor.inputs;
    if (sources.some((source) => result.has(source))) result.add(tensor);
  }
  return result;
}

type Gradients = readonly (Tensor | undefined)[];

function inputGradients(op: Exclude<Op, { kind: "custom" }>, y: Tensor, dy: Tensor): Gradients {
  const [a, b, c] = y.inputs;
  if (a === undefined) return [];
  switch (op.kind) {
    case "unary":
      return [unaryGradient(op.fn, a, y, dy)];
    case "binary":
      return b === undefined ? [] : binaryGradients(op.fn, a, b, { y, dy });
    case "where":
      return b === undefined || c === undefined ? [] : [undefined, unbroadcast(where(a, dy, 0), b), unbroadcast(where(a, 0, dy), c)];
    case "matmul":
      return b === undefined ? [] : matmulGradients(op, a, b, dy);
    case "sum":
      return [mul(dy, onesLike(a))];
    case "reshape":
      return [reshape(dy, a.shape)];
    case "transpose":
      return [transpose(dy, op.permutation.map((_, axis) => op.permutation.indexOf(axis)))];
    case "slice":
      return [sliceGradient(op, a, dy)];
    case "concat":
      return concatGradients(op.axis, y.inputs, dy);
    case "softmax":
      return [mul(y, sub(dy, sum(mul(dy, y), [y.shape.length - 1])))];
    case "logSoftmax":
      return [sub(dy, mul(exp(y), sum(dy, [y.shape.length - 1])))];
    case "gather":
      return b === undefined ? [] : [scatterAdd(b, dy, staticDim(a, 0))];
    case "scatterAdd":
      return [undefined, gather(dy, a)];
    case "pick":
      return b === undefined ? [] : [place(b, dy, staticDim(a, 1))];
    case "place":
      return [undefined, pick(dy, a)];
    case "rotary":
      return rotaryGradient(op.inverse, y.inputs, dy);
    case "input":
    case "constant":
    case "compare":
    case "cast":
      return [];
  }
}

function unaryGradient(fn: Extract<Op, { kind: "unary" }>["fn"], x: Tensor, y: Tensor, dy: Tensor): Tensor {
  switch (fn) {
    case "neg":
      return neg(dy);
    case "exp":
      return mul(dy, y);
    case "log":
      return div(dy, x);
    case "sqrt":
      return mul(dy, mul(reciprocal(y), 0.5));
    case "reciprocal":
      return neg(mul(dy, mul(y, y)));
    case "sigmoid":
      return mul(dy, mul(y, sub(1, y)));
    case "square":
      return mul(dy, mul(x, 2));
    case "silu": {
      const s = sigmoid(x);
      return mul(dy, add(s, mul(y, sub(1, s))));
    }
  }
}

function binaryGradients(fn: Extract<Op, { kind: "binary" }>["fn"], a: Tensor, b: Tensor, at: { y: Tensor; dy: Tensor }): Gradients {
  const { y, dy } = at;
  switch (fn) {
    case "add":
      return [unbroadcast(dy, a), unbroadcast(dy, b)];
    case "sub":
      return [unbroadcast(dy, a), unbroadcast(neg(dy), b)];
    case "mul":
      return [unbroadcast(mul(dy, b), a), unbroadcast(mul(dy, a), b)];
    case "div":
      return [unbroadcast(div(dy, b), a), unbroadcast(neg(div(mul(dy, y), b)), b)];
    case "min":
    case "max": {
      const first = fn === "min" ? less(a, b) : greater(a, b);
      return [unbroadcast(where(first, dy, 0), a), unbroadcast(where(first, 0, dy), b)];
    }
  }
}

function matmulGradients(op: Extract<Op, { kind: "matmul" }>, a: Tensor, b: Tensor, dy: Tensor): Gradients {
  const { transposeA, transposeB, scale } = op;
  const da = transposeA ? matmul(b, dy, { transposeA: transposeB, transposeB: true, scale }) : matmul(dy, b, { transposeB: !transposeB, scale });
  const db = transposeB ? matmul(dy, a, { transposeA: true, transposeB: transposeA, scale }) : matmul(a, dy, { transposeA: !transposeA, scale });
  return [unbroadcast(da, a), unbroadcast(db, b)];
}

function sliceGradient(op: Extract<Op, { kind: "slice" }>, x: Tensor, dy: Tensor): Tensor {
  const size = staticDim(x, op.axis);
  const zeros = (from: number, to: number): Tensor => mul(slice(x, op.axis, from, to), 0);
  const parts = [
    ...(op.start > 0 ? [zeros(0, op.start)] : []),
    dy,
    ...(op.end < size ? [zeros(op.end, size)] : []),
  ];
  return concat(parts, op.axis);
}

function concatGradients(axis: number, inputs: readonly Tensor[], dy: Tensor): Gradients {
  let start = 0;
  return inputs.map((part) => {
    const from = start;
    start += staticDim(part, axis);
    return slice(dy, axis, from, start);
  });
}

function rotaryGradient(inverse: boolean, inputs: readonly Tensor[], dy: Tensor): Gradients {
  const [, positions, cos, sin] = inputs;
  if (positions === undefined || cos === undefined || sin === undefined) return [];
  return [rotary(dy, positions, { cos, sin }, !inverse)];
}

/** Sums a gradient over the axes along which `target` was broadcast. */
function unbroadcast(gradient: Tensor, target: Tensor): Tensor {
  const extra = gradient.shape.length - target.shape.length;
  const axes = gradient.shape.flatMap((dim, i) => (i < extra || (target.shape[i - extra] === 1 && dim !== 1) ? [i] : []));
  const summed = axes.length === 0 ? gradient : sum(gradient, axes);
  if (extra === 0) return summed;
  return reshape(summed, target.shape);
}

function onesLike(x: Tensor): Tensor {
  return cast(less(mul(x, 0), 1));
}
