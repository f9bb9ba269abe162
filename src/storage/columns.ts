import { invariant } from "../core/errors.ts";

/** A value as SQLite takes it. */
export type SqlValue = null | number | string | Uint8Array;

/** How one column is stored and read. `Value` is its type in a row. */
export interface Column<Value, Optional extends boolean = boolean> {
  readonly sqlType: "TEXT" | "INTEGER" | "REAL" | "BLOB";
  readonly optional: Optional;
  /** False for wall-clock measurements, which differ between equal runs and stay out of the record digest. */
  readonly digested: boolean;
  readonly encode: (value: Value) => SqlValue;
  readonly decode: (stored: SqlValue) => Value;
}

type Required<Value> = Column<Value, false>;

function column<Value>(sqlType: Required<Value>["sqlType"], encode: (value: Value) => SqlValue, decode: (stored: SqlValue) => Value): Required<Value> {
  return { sqlType, optional: false, digested: true, encode, decode };
}

/** Text, or a union of string literals. */
export function text<Value extends string = string>(): Required<Value> {
  return column<Value>("TEXT", (value) => value, (stored) => stored as Value);
}

/** A whole number within the safe range. */
export const integer = column<number>(
  "INTEGER",
  (value) => {
    invariant(Number.isSafeInteger(value), `an integer column takes whole numbers (got ${value})`);
    return value;
  },
  (stored) => stored as number,
);

/** A finite number: NaN would be stored as NULL and read as missing. */
export const real = column<number>(
  "REAL",
  (value) => {
    invariant(Number.isFinite(value), `a real column takes finite numbers (got ${value})`);
    return value;
  },
  (stored) => stored as number,
);

export const boolean = column<boolean>("INTEGER", (value) => (value ? 1 : 0), (stored) => stored === 1);

/** A plain value as JSON; non-finite numbers are refused, since JSON would make them null. */
export function json<Value>(): Required<Value> {
  return column<Value>("TEXT", encodeJson, (stored) => JSON.parse(stored as string) as Value);
}

/** Shape [T]; little-endian blob. */
export const int32 = column<Int32Array>("BLOB", bytesOf, (stored) => new Int32Array(alignedCopy(stored as Uint8Array)));

/** Shape [T]; little-endian blob. */
export const float32 = column<Float32Array>("BLOB", bytesOf, (stored) => new Float32Array(alignedCopy(stored as Uint8Array)));

/** A column whose value may be absent; NULL in the database, no key in the row. */
export function optional<Value>(base: Required<Value>): Column<Value, true> {
  return { ...base, optional: true };
}

/** Durations and other wall-clock measurements, milliseconds by name; not part of the record digest. */
export const timing: Column<Readonly<Record<string, number>>, true> = { ...optional(json<Readonly<Record<string, number>>>()), digested: false };

function encodeJson(value: unknown): string {
  return JSON.stringify(value, (key, item: unknown) => {
    invariant(typeof item !== "number" || Number.isFinite(item), `recorded JSON holds finite numbers (key "${key}" is ${String(item)})`);
    return item;
  });
}

function bytesOf(array: Int32Array | Float32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

function alignedCopy(bytes: Uint8Array): ArrayBuffer {
  const copy = new ArrayBuffer(bytes.byteLength);
  new Uint8Array(copy).set(bytes);
  return copy;
}
