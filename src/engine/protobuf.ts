/** One field of a protocol buffers message, encoded. */
export type Bytes = Uint8Array;

/** Concatenates encoded fields into a message. */
export function message(...fields: readonly Bytes[]): Bytes {
  return Buffer.concat(fields);
}

/** A varint field; negative values take ten bytes, as int64 does. */
export function integer(field: number, value: number): Bytes {
  return message(varint(BigInt(field * 8)), varint(BigInt.asUintN(64, BigInt(value))));
}

/** A float32 field. */
export function float(field: number, value: number): Bytes {
  const data = Buffer.alloc(4);
  data.writeFloatLE(value);
  return message(varint(BigInt(field * 8 + 5)), data);
}

/** A float64 field. */
export function double(field: number, value: number): Bytes {
  const data = Buffer.alloc(8);
  data.writeDoubleLE(value);
  return message(varint(BigInt(field * 8 + 1)), data);
}

/** A length-delimited field: text, bytes or a message. */
export function bytes(field: number, value: string | Bytes): Bytes {
  const data = typeof value === "string" ? Buffer.from(value, "utf8") : value;
  return message(varint(BigInt(field * 8 + 2)), varint(BigInt(data.length)), data);
}

function varint(value: bigint): Bytes {
  const result: number[] = [];
  let rest = value;
  do {
    const low = Number(rest & 127n);
    rest >>= 7n;
    result.push(rest === 0n ? low : low | 128);
  } while (rest !== 0n);
  return Uint8Array.from(result);
}
