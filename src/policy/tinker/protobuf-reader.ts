import { protocolError } from "./wire.ts";

/** One field of a message: a number for fixed and variable-length integers and doubles, bytes for the rest. */
export interface Field {
  readonly number: number;
  readonly value: number | Uint8Array;
}

/** The fields of a protocol buffers message, in order. @throws SpadeError policy.protocol when the bytes are none */
export function readFields(bytes: Uint8Array): Field[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const fields: Field[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = view.getUint8(at++);
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
    throw new RangeError("a variable-length integer has more than ten bytes");
  };
  const take = (length: number): Uint8Array => {
    if (at + length > bytes.length) throw new RangeError("a field is longer than the message");
    at += length;
    return bytes.subarray(at - length, at);
  };
  const read = (type: number): number | Uint8Array => {
    if (type === 0) return varint();
    if (type === 2) return take(varint());
    const data = take(type === 1 ? 8 : type === 5 ? 4 : NaN);
    const part = new DataView(data.buffer, data.byteOffset, data.byteLength);
    return type === 1 ? part.getFloat64(0, true) : part.getFloat32(0, true);
  };
  try {
    while (at < bytes.length) {
      const tag = varint();
      fields.push({ number: Math.floor(tag / 8), value: read(tag % 8) });
    }
  } catch (cause) {
    throw protocolError("a protobuf message cannot be read", `${bytes.length} bytes`, cause);
  }
  return fields;
}

/** All messages, texts or byte strings in a repeated field. */
export function bytesOf(fields: readonly Field[], number: number): Uint8Array[] {
  return fields.flatMap((field) => (field.number === number && field.value instanceof Uint8Array ? [field.value] : []));
}

/** A scalar field; what is absent has its default 0. */
export function numberOf(fields: readonly Field[], number: number): number {
  const value = fields.findLast((field) => field.number === number)?.value;
  return typeof value === "number" ? value : 0;
}

/** The entries of a map field with messages or scalars as values. */
export function mapOf(fields: readonly Field[], number: number): Map<string, Field["value"]> {
  return new Map(
    bytesOf(fields, number).map((entry) => {
      const parts = readFields(entry);
      return [new TextDecoder().decode(bytesOf(parts, 1)[0] ?? new Uint8Array()), parts.findLast((part) => part.number === 2)?.value ?? 0];
    }),
  );
}
