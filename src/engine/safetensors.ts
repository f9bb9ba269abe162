import { readFile, rename, writeFile } from "node:fs/promises";
import { SpadeError, messageOf } from "../core/errors.ts";

/** A float32 tensor of a weights file. */
export interface StoredTensor {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

const maxHeaderBytes = 16 * 1024 * 1024;

/** Writes float32 tensors and string metadata as safetensors; the file appears whole or not at all. */
export async function writeSafetensors(path: string, tensors: Readonly<Record<string, StoredTensor>>, metadata: Readonly<Record<string, string>> = {}): Promise<void> {
  let offset = 0;
  const header: Record<string, unknown> = { __metadata__: metadata };
  for (const [name, { shape, data }] of Object.entries(tensors)) {
    header[name] = { dtype: "F32", shape, data_offsets: [offset, offset + data.byteLength] };
    offset += data.byteLength;
  }
  const text = JSON.stringify(header);
  const json = Buffer.from(text.padEnd(text.length + ((8 - (Buffer.byteLength(text) % 8)) % 8)));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(json.length));
  const body = Object.values(tensors).map(({ data }) => Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  await writeFile(`${path}.partial`, Buffer.concat([size, json, ...body]));
  await rename(`${path}.partial`, path);
}

/** Reads a safetensors file of float32 tensors, checking all of its layout. @throws SpadeError engine.weights */
export async function readSafetensors(path: string): Promise<{ tensors: Record<string, StoredTensor>; metadata: Record<string, string> }> {
  const file = await readFile(path).catch((error: unknown) => broken(path, `it cannot be read (${messageOf(error)})`));
  if (file.length < 8) return broken(path, `it has ${file.length} bytes, expected at least 8`);
  const headerBytes = file.readBigUInt64LE(0);
  if (headerBytes > BigInt(Math.min(maxHeaderBytes, file.length - 8))) return broken(path, `its header claims ${headerBytes.toString()} bytes and the file has ${file.length}`);
  const start = 8 + Number(headerBytes);
  const { __metadata__: metadata = {}, ...entries } = parseHeader(path, file.toString("utf8", 8, start));
  const parts = Object.entries(entries).map(([name, entry]) => ({ name, ...readTensor({ path, name, file, start }, entry) }));
  let end = 0;
  for (const { name, from, tensor } of parts.toSorted((a, b) => a.from - b.from)) {
    if (from !== end && tensor.data.length > 0) return broken(path, `tensor ${name} starts at ${from} and the one before it ends at ${end}`);
    end += tensor.data.byteLength;
  }
  if (start + end !== file.length) return broken(path, `its tensors cover ${end} bytes, but ${file.length - start} follow the header`);
  const tensors = Object.fromEntries(parts.map(({ name, tensor }) => [name, tensor]));
  return { tensors, metadata: metadata as Record<string, string> };
}

function parseHeader(path: string, text: string): Record<string, unknown> {
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch (error) {
    return broken(path, `its header is not JSON (${messageOf(error)})`);
  }
  if (typeof header !== "object" || header === null || Array.isArray(header)) return broken(path, "its header is not an object");
  return header as Record<string, unknown>;
}

function readTensor(at: { path: string; name: string; file: Buffer; start: number }, entry: unknown): { from: number; tensor: StoredTensor } {
  const { dtype, shape, data_offsets: offsets } = (entry ?? {}) as Record<string, unknown>;
  if (dtype !== "F32") return broken(at.path, `tensor ${at.name} has type ${String(dtype)}, expected F32`);
  if (!isSizes(shape) || !isSizes(offsets) || offsets.length !== 2) return broken(at.path, `tensor ${at.name} has no valid shape and offsets`);
  const [from = 0, to = 0] = offsets;
  const bytes = shape.reduce((product, size) => product * size, 4);
  if (to - from !== bytes) return broken(at.path, `tensor ${at.name} of shape [${shape.join(", ")}] needs ${bytes} bytes and has ${to - from}`);
  if (at.start + to > at.file.length) return broken(at.path, `tensor ${at.name} ends at byte ${at.start + to} and the file has ${at.file.length}: it is truncated`);
  const copy = new Uint8Array(bytes);
  copy.set(at.file.subarray(at.start + from, at.start + to));
  return { from, tensor: { shape, data: new Float32Array(copy.buffer) } };
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && (size as number) >= 0);
}

function broken(path: string, what: string): never {
  throw new SpadeError("engine.weights", `The weights file ${path} is not usable: ${what}. Expected an undamaged safetensors file of F32 tensors; restore it from a copy or use another checkpoint.`, { details: { path } });
}
