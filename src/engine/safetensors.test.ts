import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readSafetensors, writeSafetensors } from "./safetensors.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "spade-safetensors-"));
});
afterAll(() => rm(directory, { recursive: true }));

const tensors = { a: { shape: [2, 3], data: Float32Array.of(1, -2, 3.5, 0, 1e-30, -0) }, "b.c": { shape: [], data: Float32Array.of(7) }, empty: { shape: [0, 4], data: new Float32Array() } };

it("gives back what it wrote, bit for bit", async () => {
  const path = join(directory, "whole.safetensors");
  await writeSafetensors(path, tensors, { step: "3", text: "ünï" });
  expect(await readSafetensors(path)).toEqual({ tensors, metadata: { step: "3", text: "ünï" } });
});

it("refuses a file cut anywhere", async () => {
  const path = join(directory, "cut.safetensors");
  await writeSafetensors(path, tensors);
  const whole = await readFile(path);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: whole.length - 1 }), async (size) => {
      await writeFile(path, whole.subarray(0, size));
      await expect(readSafetensors(path)).rejects.toMatchObject({ code: "engine.weights" });
    }),
    { numRuns: 60 },
  );
});

const header = (value: unknown): Buffer => {
  const json = Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([size, json, Buffer.alloc(8)]);
};

it.each([
  ["not JSON", header("{")],
  ["not an object", header([])],
  ["another type", header({ a: { dtype: "F16", shape: [4], data_offsets: [0, 8] } })],
  ["a wrong size", header({ a: { dtype: "F32", shape: [3], data_offsets: [0, 8] } })],
  ["a negative size", header({ a: { dtype: "F32", shape: [-2], data_offsets: [0, -8] } })],
  ["offsets beyond the end", header({ a: { dtype: "F32", shape: [4], data_offsets: [0, 16] } })],
  ["bytes left over", header({ a: { dtype: "F32", shape: [1], data_offsets: [0, 4] } })],
  ["overlapping tensors", header({ a: { dtype: "F32", shape: [1], data_offsets: [0, 4] }, b: { dtype: "F32", shape: [1], data_offsets: [0, 4] } })],
  ["no entry", header({ a: null })],
  ["a huge header", Buffer.from([255, 255, 255, 255, 255, 255, 255, 255, 1])],
])("refuses %s, naming the file", async (_, content) => {
  const path = join(directory, "bad.safetensors");
  await writeFile(path, content);
  const error: unknown = await readSafetensors(path).catch((e: unknown) => e);
  expect(error).toMatchObject({ code: "engine.weights" });
  expect(String(error)).toContain(path);
});
