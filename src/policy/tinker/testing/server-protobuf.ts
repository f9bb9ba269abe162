import { bytes, type Bytes, double, integer, message } from "../../../engine/protobuf.ts";
import { bytesOf, mapOf, numberOf, readFields } from "../protobuf-reader.ts";
import type { Datum, ForwardBackwardCall, ServerLoss } from "../wire.ts";

/** A forward_backward request as a server reads it. */
export type ReceivedForwardBackward = ForwardBackwardCall;

/** The server's side of the protobuf form: reads a request. */
export function readForwardBackward(body: Uint8Array): ReceivedForwardBackward {
  const fields = readFields(body);
  const config = Object.fromEntries([...mapOf(fields, 5)].map(([name, value]) => [name, Number(value)]));
  return {
    modelId: textOf(bytesOf(fields, 1)[0]),
    seqId: numberOf(fields, 2),
    datums: bytesOf(fields, 3).map(readDatum),
    loss: { name: textOf(bytesOf(fields, 4)[0]) as ServerLoss["name"], config },
    forwardOnly: numberOf(fields, 6) === 1,
  };
}

function readDatum(datum: Uint8Array): Datum {
  const fields = readFields(datum);
  const chunk = bytesOf(readFields(bytesOf(fields, 1)[0] ?? new Uint8Array()), 1)[0] ?? new Uint8Array();
  const tensors = [...mapOf(fields, 2)].map(([name, tensor]) => [name, readTensor(tensor as Uint8Array)] as const);
  const targets = tensors.find(([name]) => name === "target_tokens")?.[1] ?? [];
  return {
    tokens: Int32Array.from(numbers(bytesOf(readFields(chunk), 1)[0] ?? new Uint8Array(), 4, (view, at) => view.getInt32(at, true))),
    targets: Int32Array.from(targets),
    inputs: Object.fromEntries(tensors.filter(([name]) => name !== "target_tokens").map(([name, values]) => [name, Float32Array.from(values)])),
  };
}

function readTensor(tensor: Uint8Array): number[] {
  const fields = readFields(tensor);
  const dense = bytesOf(fields, 1)[0] ?? new Uint8Array();
  return numberOf(fields, 3) === 2 ? numbers(dense, 8, (view, at) => Number(view.getBigInt64(at, true))) : numbers(dense, 4, (view, at) => view.getFloat32(at, true));
}

function numbers(data: Uint8Array, size: number, get: (view: DataView, at: number) => number): number[] {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  return Array.from({ length: data.length / size }, (_, i) => get(view, i * size));
}

function textOf(data: Uint8Array | undefined): string {
  return new TextDecoder().decode(data);
}

/** The server's side of the protobuf form: writes a result, all datums in one record. */
export function protobufOutput(logprobs: readonly Float32Array[], metrics: Readonly<Record<string, number>>): Bytes {
  const data = Buffer.concat(logprobs.map((row) => Buffer.from(row.buffer, row.byteOffset, row.byteLength)));
  const offsets = new BigInt64Array(logprobs.length + 1);
  logprobs.forEach((row, i) => (offsets[i + 1] = (offsets[i] ?? 0n) + BigInt(row.byteLength)));
  const tensor = message(bytes(1, data), bytes(2, new Uint8Array(offsets.buffer)), integer(3, 1));
  const record = message(bytes(1, "scalar"), bytes(2, message(bytes(1, "logprobs"), bytes(2, tensor))), integer(3, logprobs.length));
  return message(bytes(1, "scalar"), bytes(2, record), ...Object.entries(metrics).map(([name, value]) => bytes(3, message(bytes(1, name), double(2, value)))));
}
