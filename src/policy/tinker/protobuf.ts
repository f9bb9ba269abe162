import { type Bytes, bytes, double, integer, message } from "../../engine/protobuf.ts";
import { bytesOf, type Field, mapOf, numberOf, readFields } from "./protobuf-reader.ts";
import { type Datum, type ForwardBackwardCall, type ForwardBackwardOutput, type Payload, protocolError, type SampledSequence } from "./wire.ts";

/** Element types of tensors, by their numbers in the schema. */
const dtype = { float32: 1, int64: 2, bfloat16: 4 } as const;

/** forward_backward in protobuf; a forward pass is a flag of it. */
export function protobufForwardBackward({ modelId, seqId, datums, loss, forwardOnly }: ForwardBackwardCall): Payload {
  const body = message(
    bytes(1, modelId),
    integer(2, seqId),
    ...datums.map((datum) => bytes(3, datumMessage(datum))),
    bytes(4, loss.name),
    ...Object.entries(loss.config ?? {}).map(([name, value]) => bytes(5, message(bytes(1, name), double(2, value)))),
    ...(forwardOnly ? [integer(6, 1)] : []),
  );
  return { path: "/api/v1/forward_backward", bytes: new Uint8Array(body), contentType: "application/x-protobuf" };
}

function datumMessage({ tokens, targets, inputs }: Datum): Bytes {
  const chunk = bytes(1, bytes(1, little(tokens, 4, (view, at, value) => view.setInt32(at, value, true))));
  const wide = little(targets, 8, (view, at, value) => view.setBigInt64(at, BigInt(value), true));
  const entries = [tensorEntry("target_tokens", wide, dtype.int64, targets.length), ...Object.entries(inputs).map(([name, values]) => tensorEntry(name, little(values, 4, (view, at, value) => view.setFloat32(at, value, true)), dtype.float32, values.length))];
  return message(bytes(1, chunk), ...entries);
}

function tensorEntry(name: string, dense: Bytes, type: number, length: number): Bytes {
  /** Packed: the number without the tag of a field. */
  const shape = integer(0, length).subarray(1);
  return bytes(2, message(bytes(1, name), bytes(2, message(bytes(1, dense), integer(3, type), bytes(4, shape)))));
}

function little(values: Int32Array | Float32Array, size: number, set: (view: DataView, at: number, value: number) => void): Bytes {
  const view = new DataView(new ArrayBuffer(values.length * size));
  values.forEach((value, i) => set(view, i * size, value));
  return new Uint8Array(view.buffer);
}

/** Output of forward_backward in protobuf. @throws SpadeError policy.protocol */
export function readProtobufOutput(data: Uint8Array): ForwardBackwardOutput {
  const fields = readFields(data);
  const metrics = Object.fromEntries([...mapOf(fields, 3)].map(([name, value]) => [name, typeof value === "number" ? value : NaN]));
  return { logprobs: bytesOf(fields, 2).flatMap(readLogprobs), metrics };
}

/** Log-probabilities of the datums of one record. */
function readLogprobs(record: Uint8Array): Float32Array[] {
  const fields = readFields(record);
  const tensor = mapOf(fields, 2).get("logprobs");
  if (!(tensor instanceof Uint8Array)) throw protocolError("a record of results has no logprobs", "none");
  const parts = readFields(tensor);
  const [data, offsets] = [bytesOf(parts, 1)[0] ?? new Uint8Array(), bytesOf(parts, 2)[0] ?? new Uint8Array()];
  const type = numberOf(parts, 3);
  if (type !== dtype.float32 && type !== dtype.bfloat16) throw protocolError("logprobs have an element type that is no float", type);
  const view = new DataView(offsets.buffer, offsets.byteOffset, offsets.byteLength);
  const offset = (i: number): number => Number(view.getBigInt64(i * 8, true));
  const count = offsets.byteLength / 8 - 1;
  if (count !== numberOf(fields, 3) || offset(count) !== data.length) throw protocolError("the offsets of logprobs do not match their data", count);
  return Array.from({ length: count }, (_, i) => floats(data.subarray(offset(i), offset(i + 1)), type));
}

function floats(data: Uint8Array, type: number = dtype.float32): Float32Array {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  if (type === dtype.float32) return Float32Array.from({ length: data.length / 4 }, (_, i) => view.getFloat32(i * 4, true));
  const widened = new DataView(new ArrayBuffer(4));
  return Float32Array.from({ length: data.length / 2 }, (_, i) => {
    widened.setUint16(0, view.getUint16(i * 2, true));
    return widened.getFloat32(0);
  });
}

/** Sampled sequences in protobuf. @throws SpadeError policy.protocol */
export function readProtobufSequences(data: Uint8Array): SampledSequence[] {
  return bytesOf(readFields(data), 1).map((sequence) => {
    const fields: readonly Field[] = readFields(sequence);
    const tokens = bytesOf(fields, 2)[0] ?? new Uint8Array();
    const logprobs = bytesOf(fields, 3)[0];
    const view = new DataView(tokens.buffer, tokens.byteOffset, tokens.byteLength);
    return {
      stopReason: numberOf(fields, 1) === 0 ? "stop" : "length",
      tokens: Int32Array.from({ length: tokens.length / 4 }, (_, i) => view.getInt32(i * 4, true)),
      ...(logprobs === undefined ? {} : { logprobs: floats(logprobs) }),
    };
  });
}

/** Log-probabilities of a prompt's tokens in protobuf; absent when there are none. @throws SpadeError policy.protocol */
export function readProtobufPromptLogprobs(data: Uint8Array): Float32Array | undefined {
  const given = bytesOf(readFields(data), 2)[0];
  return given === undefined ? undefined : floats(given);
}
