import { SpadeError } from "../core/errors.ts";
import { topological } from "./graph.ts";
import type { Dim, ElementType, Op, Outputs, Tensor } from "./graph.ts";
import { bytes, float, integer, message } from "./protobuf.ts";
import type { Bytes } from "./protobuf.ts";

const elementTypes = { f32: 1, i32: 6, i64: 7, bool: 9 } as const;
const microsoft = "com.microsoft";

type Attribute = number | readonly number[] | { readonly float: number } | string;

/** Serialises a graph as an ONNX model (opset 20 and com.microsoft); inputs are named as in the graph, outputs by key. */
export function onnxModel(outputs: Outputs): Bytes {
  const writer = new GraphWriter();
  const order = topological(Object.values(outputs));
  for (const tensor of order) writer.lower(tensor);
  for (const [name, tensor] of Object.entries(outputs)) writer.output(name, tensor);
  const opset = (domain: string, version: number): Bytes => bytes(8, message(bytes(1, domain), integer(2, version)));
  return message(integer(1, 9), bytes(2, "spade-rl"), bytes(7, writer.graph()), opset("", 20), opset(microsoft, 1));
}

const unaryOperators = { neg: "Neg", exp: "Exp", log: "Log", sqrt: "Sqrt", reciprocal: "Reciprocal", sigmoid: "Sigmoid" } as const;
const binaryOperators = { add: "Add", sub: "Sub", mul: "Mul", div: "Div", min: "Min", max: "Max", less: "Less", greater: "Greater", equal: "Equal" } as const;

class GraphWriter {
  readonly #fields: Bytes[] = [bytes(2, "graph")];
  readonly #names = new Map<Tensor, string>();
  readonly #initializers = new Map<string, string>();
  #next = 0;

  graph(): Bytes {
    return message(...this.#fields);
  }

  output(name: string, tensor: Tensor): void {
    this.#node("Identity", [this.#name(tensor)], { output: name });
    this.#fields.push(bytes(12, valueInfo(name, tensor.type, tensor.shape)));
  }

  lower(tensor: Tensor): void {
    const { op } = tensor;
    if (op.kind === "input") {
      this.#names.set(tensor, op.name);
      this.#fields.push(bytes(11, valueInfo(op.name, tensor.type, tensor.shape)));
      return;
    }
    const inputs = (op.kind === "custom" ? tensor.inputs.slice(0, 1) : tensor.inputs).map((x) => this.#name(x));
    this.#names.set(tensor, this.#lowerOp(op, tensor, inputs));
  }

  #lowerOp(op: Exclude<Op, { kind: "input" }>, tensor: Tensor, inputs: string[]): string {
    const [a = "", b = "", c = "", d = ""] = inputs;
    switch (op.kind) {
      case "constant":
        return this.#floats(tensor.shape as number[], op.values);
      case "custom":
        return a;
      case "unary":
        if (op.fn === "square") return this.#node("Mul", [a, a]);
        if (op.fn === "silu") return this.#node("QuickGelu", [a], { domain: microsoft, attributes: { alpha: { float: 1 } } });
        return this.#node(unaryOperators[op.fn], [a]);
      case "binary":
      case "compare":
        return this.#node(binaryOperators[op.fn], [a, b]);
      case "where":
        return this.#node("Where", [a, b, c]);
      case "cast":
        return this.#node("Cast", [a], { attributes: { to: elementTypes.f32 } });
      case "matmul":
        return this.#matmul(op, a, b);
      case "sum":
        return this.#node("ReduceSum", [a, this.#integers(op.axes)], { attributes: { keepdims: 1 } });
      case "reshape":
        return this.#reshape(a, tensor.inputs[0]?.shape ?? [], tensor.shape);
      case "transpose":
        return this.#node("Transpose", [a], { attributes: { perm: op.permutation } });
      case "slice":
        return this.#node("Slice", [a, this.#integers([op.start]), this.#integers([op.end]), this.#integers([op.axis])]);
      case "concat":
        return this.#node("Concat", inputs, { attributes: { axis: op.axis } });
      case "softmax":
        return this.#node("Softmax", [a], { attributes: { axis: -1 } });
      case "logSoftmax":
        return this.#node("LogSoftmax", [a], { attributes: { axis: -1 } });
      case "gather":
        return this.#node("Gather", [a, b], { attributes: { axis: 0 } });
      case "scatterAdd":
        return this.#scatterAdd(a, b, tensor.shape);
      case "pick":
        return this.#node("GatherElements", [a, this.#column(b)], { attributes: { axis: 1 } });
      case "place":
        return this.#place(a, b, tensor.shape);
      case "rotary":
        return this.#node("RotaryEmbedding", [a, this.#longs(b), c, op.inverse ? this.#node("Neg", [d]) : d], { domain: microsoft });
    }
  }

  #matmul(op: Extract<Op, { kind: "matmul" }>, a: string, b: string): string {
    if (!op.transposeA && !op.transposeB && op.scale === 1) return this.#node("MatMul", [a, b]);
    const attributes = { transA: Number(op.transposeA), transB: Number(op.transposeB), alpha: { float: op.scale } };
    return this.#node("FusedMatMul", [a, b], { domain: microsoft, attributes });
  }

  #scatterAdd(index: string, updates: string, shape: readonly Dim[]): string {
    const zeros = this.#node("ConstantOfShape", [this.#integers(shape as number[])]);
    const column = this.#node("Unsqueeze", [this.#longs(index), this.#integers([1])]);
    return this.#node("ScatterND", [zeros, column, updates], { attributes: { reduction: "add" } });
  }

  #place(index: string, values: string, shape: readonly Dim[]): string {
    const rows = this.#node("Shape", [index]);
    const zeros = this.#node("ConstantOfShape", [this.#node("Concat", [rows, this.#integers([shape[1] as number])], { attributes: { axis: 0 } })]);
    return this.#node("ScatterElements", [zeros, this.#column(index), values], { attributes: { axis: 1 } });
  }

  #column(index: string): string {
    return this.#node("Unsqueeze", [index, this.#integers([1])]);
  }

  #longs(x: string): string {
    return this.#node("Cast", [x], { attributes: { to: elementTypes.i64 } });
  }

  #reshape(x: string, from: readonly Dim[], shape: readonly Dim[]): string {
    const target = shape.map((dim, i) => (typeof dim === "number" ? dim : from[i] === dim ? 0 : -1));
    if (target.filter((size) => size === -1).length > 1) {
      throw new SpadeError("internal.graph", `Reshape of [${from.join(", ")}] to [${shape.join(", ")}] has more than one unknown size. This is a bug in spade-rl; please report it.`);
    }
    return this.#node("Reshape", [x, this.#integers(target)]);
  }

  #name(tensor: Tensor): string {
    const name = this.#names.get(tensor);
    if (name === undefined) throw new SpadeError("internal.graph", `${tensor.op.kind} is used before it is made. This is a bug in spade-rl; please report it.`);
    return name;
  }

  #node(operator: string, inputs: readonly string[], options: { output?: string; domain?: string; attributes?: Record<string, Attribute> } = {}): string {
    const output = options.output ?? `t${this.#next++}`;
    const attributes = Object.entries(options.attributes ?? {}).map(([name, value]) => bytes(5, attribute(name, value)));
    const body = message(...inputs.map((name) => bytes(1, name)), bytes(2, output), bytes(3, `n${this.#next++}`), bytes(4, operator), ...attributes, bytes(7, options.domain ?? ""));
    this.#fields.push(bytes(1, body));
    return output;
  }

  #integers(values: readonly number[]): string {
    return this.#initializer(`i64 ${values.join(" ")}`, () => tensorProto(elementTypes.i64, [values.length], BigInt64Array.from(values.map(BigInt))));
  }

  #floats(shape: readonly number[], values: readonly number[]): string {
    return this.#initializer(`f32 ${shape.join(" ")}: ${values.join(" ")}`, () => tensorProto(elementTypes.f32, shape, Float32Array.from(values)));
  }

  #initializer(key: string, make: () => Bytes): string {
    const known = this.#initializers.get(key);
    if (known !== undefined) return known;
    const name = `c${this.#next++}`;
    this.#initializers.set(key, name);
    this.#fields.push(bytes(5, message(make(), bytes(8, name))));
    return name;
  }
}

function tensorProto(type: number, shape: readonly number[], data: Float32Array | BigInt64Array): Bytes {
  return message(...shape.map((size) => integer(1, size)), integer(2, type), bytes(9, new Uint8Array(data.buffer, data.byteOffset, data.byteLength)));
}

function attribute(name: string, value: Attribute): Bytes {
  if (typeof value === "string") return message(bytes(1, name), bytes(4, value), integer(20, 3));
  if (typeof value === "number") return message(bytes(1, name), integer(3, value), integer(20, 2));
  if ("float" in value) return message(bytes(1, name), float(2, value.float), integer(20, 1));
  return message(bytes(1, name), ...value.map((x) => integer(8, x)), integer(20, 7));
}

function valueInfo(name: string, type: ElementType, shape: readonly Dim[]): Bytes {
  const dims = shape.map((dim) => bytes(1, typeof dim === "number" ? integer(1, dim) : bytes(2, dim)));
  const tensorType = message(integer(1, elementTypes[type]), bytes(2, message(...dims)));
  return message(bytes(1, name), bytes(2, bytes(1, tensorType)));
}
