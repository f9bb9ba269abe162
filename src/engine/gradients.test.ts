import { describe, expect, it } from "vitest";
import { Rng } from "../core/seed.ts";
import * as g from "./graph.ts";
import type { Outputs, Tensor } from "./graph.ts";
import { gradients } from "./gradients.ts";
import { evaluate } from "./reference.ts";
import type { ReferenceValue } from "./reference.ts";
import { Session } from "./session.ts";
import type { Feed } from "./session.ts";
import { blockAttention, gatedUnit, normalise, selectRows, tokenLogprobs } from "./transformer.ts";

type Values = Record<string, ReferenceValue>;

function random(shape: readonly number[], seed: number, low = -1, high = 1): ReferenceValue {
  const rng = new Rng(seed);
  const size = shape.reduce((product, dim) => product * dim, 1);
  return { shape, data: Float64Array.from({ length: size }, () => Math.fround(low + (high - low) * rng.float())) };
}

const whole = (shape: readonly number[], values: readonly number[]): ReferenceValue => ({ shape, data: Float64Array.from(values) });

/** A scalar that weighs every element of `y` differently. */
function weighed(y: Tensor): Tensor {
  const axes = y.shape.map((_, i) => i);
  return g.reshape(g.sum(g.mul(y, g.add(g.mul(y, 0.3), g.input("weights", y.shape))), axes), []);
}

/** Largest difference between the gradient and central differences, over every element of the float inputs. */
function largestGradientError(loss: Tensor, targets: readonly Tensor[], values: Values): number {
  const analytic = evaluate(gradients(loss, targets), values);
  let largest = 0;
  targets.forEach((target, i) => {
    const name = target.op.kind === "input" ? target.op.name : "";
    const value = values[name]!;
    value.data.forEach((x, at) => {
      const h = 1e-5;
      const moved = (to: number): number => evaluate([loss], { ...values, [name]: { ...value, data: value.data.with(at, to) } })[0]!.data[0]!;
      const numeric = (moved(x + h) - moved(x - h)) / (2 * h);
      largest = Math.max(largest, Math.abs(numeric - analytic[i]!.data[at]!));
    });
  });
  return largest;
}

async function largestRuntimeError(outputs: Outputs, values: Values, types: Readonly<Record<string, "i32">>): Promise<number> {
  const session = await Session.create(outputs, 1);
  const feeds = Object.fromEntries(
    Object.entries(values).map(([name, { shape, data }]): [string, Feed] => [name, { shape, data: types[name] === "i32" ? Int32Array.from(data) : Float32Array.from(data) }]),
  );
  const used = new Set(g.topological(Object.values(outputs)).flatMap(({ op }) => (op.kind === "input" ? [op.name] : [])));
  const results = await session.run(Object.fromEntries(Object.entries(feeds).filter(([name]) => used.has(name))));
  await session.release();
  const expected = evaluate(Object.values(outputs), values);
  return Math.max(...Object.keys(outputs).map((name, i) => Math.max(...expected[i]!.data.map((x, at) => Math.abs(x - results[name]![at]!)))));
}

const x = g.input("x", ["N", 4]);
const y = g.input("y", ["N", 4]);
const row = g.input("row", [1, 4]);
const w = g.input("w", [4, 3]);
const cube = g.input("cube", ["B", 2, 3, 4]);
const index = g.input("index", [3], "i32");
const columns = g.input("columns", ["N"], "i32");
const positive = { x: random([3, 4], 1, 0.5, 2) };
const base: Values = {
  x: random([3, 4], 1), y: random([3, 4], 2), row: random([1, 4], 3), w: random([4, 3], 4), cube: random([2, 2, 3, 4], 5),
  index: whole([3], [2, 0, 2]), columns: whole([3], [1, 3, 0]), positions: whole([2, 3], [0, 1, 2, 4, 0, 1]), cos: random([5, 2], 6), sin: random([5, 2], 7),
  q: random([2, 2, 4, 2], 8), k: random([2, 2, 4, 2], 9), v: random([2, 2, 4, 2], 10), mask0: random([2, 1, 2, 2], 11), mask1: random([2, 1, 2, 4], 12),
  chosen: whole([2], [2, 0]), inverse: whole([3], [1, 2, 0]), table: random([5, 4], 13),
};
const types = { index: "i32", columns: "i32", positions: "i32", chosen: "i32", inverse: "i32" } as const;
const positions = g.input("positions", ["B", 3], "i32");
const tables = { cos: g.input("cos", [5, 2]), sin: g.input("sin", [5, 2]) };
const [q, k, v] = ["q", "k", "v"].map((name) => g.input(name, ["B", 2, 4, 2])) as [Tensor, Tensor, Tensor];
const masks = [g.input("mask0", ["B", 1, 2, 2]), g.input("mask1", ["B", 1, 2, 4])];
const table = g.input("table", [5, 4]);

const cases: Record<string, { y: Tensor; of: Tensor[]; values?: Values }> = {
  neg: { y: g.neg(x), of: [x] },
  exp: { y: g.exp(x), of: [x] },
  log: { y: g.log(x), of: [x], values: positive },
  sqrt: { y: g.sqrt(x), of: [x], values: positive },
  reciprocal: { y: g.reciprocal(x), of: [x], values: positive },
  sigmoid: { y: g.sigmoid(x), of: [x] },
  square: { y: g.square(x), of: [x] },
  silu: { y: g.silu(x), of: [x] },
  "add with broadcasting": { y: g.add(x, row), of: [x, row] },
  "sub with broadcasting": { y: g.sub(row, x), of: [x, row] },
  "mul with broadcasting": { y: g.mul(x, row), of: [x, row] },
  "mul with a scalar": { y: g.mul(x, 3), of: [x] },
  "div with broadcasting": { y: g.div(row, x), of: [x, row], values: positive },
  min: { y: g.min(x, y), of: [x, y] },
  max: { y: g.max(x, y), of: [x, y] },
  where: { y: g.where(g.greater(x, y), x, row), of: [x, row] },
  "where equal": { y: g.where(g.equal(x, x), y, x), of: [x, y] },
  cast: { y: g.mul(g.cast(g.less(x, y)), y), of: [x, y] },
  matmul: { y: g.matmul(x, w), of: [x, w] },
  "matmul, both transposed, scaled": { y: g.matmul(w, x, { transposeA: true, transposeB: true, scale: 0.5 }), of: [x, w] },
  "matmul, first transposed": { y: g.matmul(x, y, { transposeA: true }), of: [x, y] },
  "matmul, second transposed": { y: g.matmul(x, y, { transposeB: true }), of: [x, y] },
  "matmul with broadcast batches": { y: g.matmul(cube, w), of: [cube, w] },
  sum: { y: g.sum(cube, [1, 3]), of: [cube] },
  meanLast: { y: g.meanLast(x), of: [x] },
  reshape: { y: g.reshape(cube, ["B", 6, 4]), of: [cube] },
  transpose: { y: g.transpose(cube, [0, 2, 3, 1]), of: [cube] },
  slice: { y: g.slice(cube, 2, 1, 2), of: [cube] },
  concat: { y: g.concat([cube, g.mul(cube, 2)], 2), of: [cube] },
  softmax: { y: g.softmax(x), of: [x] },
  logSoftmax: { y: g.logSoftmax(x), of: [x] },
  gather: { y: g.gather(w, index), of: [w] },
  scatterAdd: { y: g.scatterAdd(index, g.slice(x, 1, 0, 2), 4), of: [x] },
  pick: { y: g.pick(x, columns), of: [x] },
  place: { y: g.place(columns, g.slice(x, 1, 1, 2), 4), of: [x] },
  rotary: { y: g.rotary(cube, positions, tables), of: [cube] },
  "inverse rotary": { y: g.rotary(cube, positions, tables, true), of: [cube] },
  normalise: { y: normalise(x), of: [x] },
  "gated unit": { y: gatedUnit(x, y), of: [x, y] },
  "block attention": { y: blockAttention(masks)({ q, k, v }, 0), of: [q, k, v] },
  "row selection": { y: selectRows(x, g.input("chosen", ["P"], "i32"), g.input("inverse", ["N"], "i32")), of: [x] },
  "token log-probabilities": { y: tokenLogprobs(x, table, columns).target, of: [x, table] },
};

describe.each(Object.entries(cases))("%s", (_, { y: output, of, values }) => {
  const loss = weighed(output);
  const own: Values = { ...base, ...values };
  const shape = evaluate([output], own)[0]!.shape;
  const all = { ...own, weights: random(shape, 20) };

  it("has the gradient of central differences", () => {
    expect(largestGradientError(loss, of, all)).toBeLessThan(1e-7);
  });

  it("runs as in the reference, forward and backward", async () => {
    const outputs = { result: output, ...Object.fromEntries(gradients(loss, of).map((gradient, i) => [`d${i}`, gradient])) };
    expect(await largestRuntimeError(outputs, all, types)).toBeLessThan(2e-5);
  });
});

it("gives zeros for what the loss does not depend on", () => {
  const [zeros] = evaluate(gradients(weighed(x), [y]), { ...base, weights: random([3, 4], 1) });
  expect(zeros!.data.every((value) => Math.abs(value) === 0)).toBe(true);
});
