import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { afterAll, expect, test } from "vitest";
import { openCorpus, type CorpusOptions } from "./corpus.ts";
import { corpusOptions, jsonl, parquet, sourceOf } from "./testing/containers.ts";

const root = mkdtempSync(join(tmpdir(), "spade-faults-"));
afterAll(() => rmSync(root, { recursive: true }));
const folder = (): string => mkdtempSync(join(root, "case-"));
const records = Array.from({ length: 50 }, (_, i) => ({ text: `document ${i} ${i ** 7} ${i ** 9}` }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder(), name);
  writeFileSync(path, content);
  return path;
}

const open = (path: string, changes: Partial<CorpusOptions> = {}) => openCorpus([sourceOf(path)], corpusOptions(folder(), changes));
const half = (bytes: Uint8Array): Uint8Array => bytes.subarray(0, bytes.length >> 1);
const column = (name: string, data: readonly unknown[], type: "INT32" | "STRING") => new Uint8Array(parquetWriteBuffer({ columnData: [{ name, data: [...data], type }] }));

const cases: readonly (readonly [string, () => string, string, readonly string[]])[] = [
  ["a cut gzip file", () => file("x.jsonl.gz", half(gzipSync(jsonl(records)))), "corpus.file", ["x.jsonl.gz", "beyond line", "gzip -t"]],
  ["a cut zstd file", () => file("x.jsonl.zst", half(zstdCompressSync(jsonl(records)))), "corpus.file", ["x.jsonl.zst", "beyond line", "zstd -t"]],
  ["what is no gzip", () => file("x.jsonl.gz", jsonl(records)), "corpus.file", ["x.jsonl.gz", "beyond line 1", "gzip -t"]],
  ["a bad line in a packed file", () => file("x.jsonl.gz", gzipSync(`${jsonl(records)}{"text":\n`)), "corpus.line", ["Line 51", "x.jsonl.gz", "correct or delete the line"]],
  ["a cut Parquet file", () => file("x.parquet", half(parquet(records))), "corpus.file", ["x.parquet", "no whole Parquet file"]],
  ["a missing column", () => file("x.parquet", column("body", ["a"], "STRING")), "corpus.column", ["x.parquet", '"text" or "orig_doc"', "only body", "textFields"]],
  ["a column of another type", () => file("x.parquet", column("text", [1, 2], "INT32")), "corpus.column", ["x.parquet", '"text" of type INT32', "strings"]],
  ["a row without text", () => file("x.parquet", parquet([...records, { text: null }], { rowGroupSize: 20 })), "corpus.row", ["Row 50 (row group 2)", "x.parquet", "minWords"]],
  ["a damaged row group", () => file("x.parquet", damaged(parquet(records, { rowGroupSize: 20, codec: "GZIP" }))), "corpus.row", ["row group 0", "x.parquet", "damaged"]],
  ["an id that occurs twice", () => file("x.parquet", parquet([{ id: "a", text: "one" }, { id: "a", text: "two" }])), "corpus.row", ["Row 1 (row group 0)", "(a) occurs twice", 'idField ""']],
  ["a line that never ends", () => file("x.jsonl", Buffer.alloc(65 * 2 ** 20, "a")), "corpus.line", ["Line 1", "64 MiB"]],
];

function damaged(bytes: Uint8Array): Uint8Array {
  return bytes.with(0, 80).map((byte, i) => (i >= 30 && i < 90 ? byte ^ 0x5a : byte));
}

test.each(cases)("%s", async (_name, make, code, says) => {
  const error: unknown = await open(make()).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code });
  for (const text of says) expect(String(error)).toContain(text);
});

test("length limits pass over rows, blank ones too, and say so when none is left", async () => {
  const path = file("x.jsonl", jsonl([{ text: "" }, { text: "one" }, { text: "one two" }, { text: "one two three four" }]));
  const corpus = await open(path, { keep: { minWords: 1, maxWords: 2, minCharacters: 4 } });
  expect(corpus.counts).toEqual({ rows: 4, documents: 1, duplicates: 0, outsideLimits: 3 });
  expect(corpus.document(0).text).toBe("one two");
  corpus.close();
  await expect(open(path, { keep: { minWords: 9, minCharacters: 0 } })).rejects.toMatchObject({ code: "corpus.empty", message: expect.stringContaining("All its 4 rows") as string });
});

test("equal texts are one document, across sources too", async () => {
  const [first, second] = [file("a.jsonl", jsonl([{ text: "x" }, { text: " x " }, { text: "y" }])), file("b.jsonl.gz", gzipSync(jsonl([{ text: "y" }, { text: "z" }])))];
  const corpus = await openCorpus([sourceOf(first), sourceOf(second)], corpusOptions(folder()));
  expect([0, 1, 2].map((i) => corpus.document(i).text)).toEqual(["x", "y", "z"]);
  expect(corpus.document(1).source).toEqual({ file: "a.jsonl", line: 3 });
  expect(corpus.counts).toMatchObject({ rows: 5, documents: 3, duplicates: 2 });
  corpus.close();
});

test("a plain file that changes under a run is noticed at the draw", async () => {
  const path = file("x.jsonl", jsonl(records));
  const corpus = await open(path);
  const { mtime } = statSync(path);
  writeFileSync(path, jsonl(records).replace("document 3", "document 4"));
  utimesSync(path, mtime, mtime);
  expect(corpus.document(2).text).toBe(records[2]?.text);
  expect(() => corpus.document(3)).toThrow(expect.objectContaining({ code: "corpus.changed", message: expect.stringMatching(/x\.jsonl \(line 4\).*another text.*new run/) as string }) as Error);
  writeFileSync(path, "");
  expect(() => corpus.document(3)).toThrow(expect.objectContaining({ code: "corpus.changed" }) as Error);
  corpus.close();
});

test("an index is used while its source is as it was, and made again when it is not, or damaged", async () => {
  const path = file("x.jsonl.gz", gzipSync(jsonl(records)));
  const cacheDirectory = folder();
  const notices: string[] = [];
  const reopen = async () => {
    const corpus = await open(path, { cacheDirectory, notice: (text) => notices.push(text) });
    corpus.close();
    return { digest: corpus.digest, reads: notices.splice(0).length };
  };
  const first = await reopen();
  expect(first.reads).toBe(2);
  expect(await reopen()).toEqual({ digest: first.digest, reads: 0 });
  writeFileSync(path, gzipSync(jsonl(records.slice(1))));
  const second = await reopen();
  expect(second.reads).toBe(2);
  expect(second.digest).not.toBe(first.digest);
  const index = readdirSync(cacheDirectory);
  expect(index).toHaveLength(1);
  writeFileSync(join(cacheDirectory, index[0] ?? ""), "no database");
  expect(await reopen()).toEqual({ digest: second.digest, reads: 2 });
});

test("a damaged index is named at the draw", async () => {
  const cacheDirectory = folder();
  const path = file("x.jsonl.gz", gzipSync(jsonl(Array.from({ length: 2000 }, (_, i) => ({ text: `document ${i} ${"word ".repeat(20)}` })))));
  (await open(path, { cacheDirectory })).close();
  const index = join(cacheDirectory, readdirSync(cacheDirectory)[0] ?? "");
  const bytes = readFileSync(index);
  writeFileSync(index, bytes.fill(0x5a, 80_000, bytes.length - 40_000));
  const corpus = await open(path, { cacheDirectory });
  const drawAll = (): void => Array.from({ length: corpus.size }).forEach((_, i) => corpus.document(i));
  expect(drawAll).toThrow(expect.objectContaining({ code: "corpus.cache", message: expect.stringContaining(`Delete that file`) as string }) as Error);
  corpus.close();
});

test("a reader that fails leaves nothing, and an index that cannot be written is named", async () => {
  const cacheDirectory = folder();
  await expect(open(file("x.jsonl.gz", gzipSync("{")), { cacheDirectory })).rejects.toMatchObject({ code: "corpus.line" });
  expect(readdirSync(cacheDirectory)).toEqual([]);
  const occupied = file("occupied", "");
  await expect(open(file("x.jsonl.gz", gzipSync(jsonl(records))), { cacheDirectory: join(occupied, "cache") })).rejects.toMatchObject({ code: "corpus.cache", message: expect.stringContaining(occupied) as string });
});

test("files in a folder with shards count only when they are shards", async () => {
  const path = folder();
  mkdirSync(join(path, "data"));
  writeFileSync(join(path, "data", "b.jsonl"), jsonl([{ text: "b" }]));
  writeFileSync(join(path, "a.jsonl.gz"), gzipSync(jsonl([{ text: "a" }])));
  writeFileSync(join(path, "LICENSE"), "words");
  const corpus = await open(path);
  expect([corpus.document(0).text, corpus.document(1).text, corpus.size]).toEqual(["a", "b", 2]);
  corpus.close();
});
