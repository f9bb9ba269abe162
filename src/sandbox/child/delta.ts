import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { type Context, pageBytes } from "./context.ts";

const headerBytes = 8;

/** The pages (and the stack pointer) in which `to` differs from `from`; both are relative to one base, whose pages `basePage` gives. */
export function difference(from: Context, to: Context, basePage: (page: number) => Uint8Array): Context {
  const [before, after] = [pagesOf(from), pagesOf(to)];
  const candidates = [...new Set([...before.keys(), ...after.keys()])].sort((a, b) => a - b);
  const changed = candidates.filter((page) => Buffer.compare(before.get(page) ?? basePage(page), after.get(page) ?? basePage(page)) !== 0);
  return contextOf(changed, (page) => after.get(page) ?? basePage(page), to.stackPointer);
}

/** The state that differs from `from` by `delta`, relative to the base of `from`. */
export function merged(from: Context, delta: Context): Context {
  const pages = new Map([...pagesOf(from), ...pagesOf(delta)]);
  const numbers = [...pages.keys()].sort((a, b) => a - b);
  return contextOf(numbers, (page) => pages.get(page) ?? new Uint8Array(pageBytes), delta.stackPointer);
}

/** A context as compressed bytes. */
export function encodeContext({ pages, data, stackPointer }: Context): Buffer {
  const bytes = Buffer.alloc(headerBytes + 4 * pages.length + data.length);
  bytes.writeUInt32LE(pages.length, 0);
  bytes.writeUInt32LE(stackPointer, 4);
  pages.forEach((page, i) => bytes.writeUInt32LE(page, headerBytes + 4 * i));
  bytes.set(data, headerBytes + 4 * pages.length);
  return deflateRawSync(bytes, { level: 1 });
}

/** Reads `encodeContext`'s bytes back. @throws Error when they are damaged, or lie outside a memory of `memoryBytes`. */
export function decodeContext(compressed: Uint8Array, memoryBytes: number): Context {
  const bytes = inflateRawSync(compressed, { maxOutputLength: headerBytes + memoryBytes + memoryBytes / 64 });
  const count = bytes.readUInt32LE(0);
  const start = headerBytes + 4 * count;
  if (bytes.length !== start + count * pageBytes) throw new Error("a forked state has the wrong length");
  const pages = Uint32Array.from({ length: count }, (_, i) => bytes.readUInt32LE(headerBytes + 4 * i));
  if (pages.some((page, i) => (page + 1) * pageBytes > memoryBytes || page <= (pages[i - 1] ?? -1))) throw new Error("a forked state has pages out of range");
  const stackPointer = bytes.readUInt32LE(4);
  if (stackPointer > memoryBytes) throw new Error("a forked state has a stack pointer out of range");
  return { pages, data: bytes.subarray(start), stackPointer };
}

/** SHA-256 of a state, for comparison between children. */
export function digestOf({ pages, data, stackPointer }: Context): string {
  return createHash("sha256").update(`${stackPointer} ${pages.length}\n`).update(pages).update(data).digest("hex");
}

function pagesOf({ pages, data }: Context): Map<number, Uint8Array> {
  return new Map(Array.from(pages, (page, i) => [page, data.subarray(i * pageBytes, (i + 1) * pageBytes)]));
}

function contextOf(pages: readonly number[], contents: (page: number) => Uint8Array, stackPointer: number): Context {
  const data = Buffer.allocUnsafeSlow(pages.length * pageBytes);
  pages.forEach((page, i) => data.set(contents(page), i * pageBytes));
  return { pages: Uint32Array.from(pages), data, stackPointer };
}
