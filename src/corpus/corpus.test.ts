import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { bundledCorpus, manifestPaths, openCorpus } from "./corpus.ts";
import { firstWords } from "./record.ts";
import { corpusOptions, sourceOf } from "./testing/containers.ts";

const root = mkdtempSync(join(tmpdir(), "spade-corpus-"));
afterAll(() => rmSync(root, { recursive: true }));

let files = 0;
function file(content: string | Uint8Array): string {
  const path = join(root, `${files++}.jsonl`);
  writeFileSync(path, content);
  return path;
}

const options = corpusOptions(join(root, "cache"), { maxWords: 100 });
const open = (paths: readonly string[], changes: Partial<typeof options> = {}) => openCorpus(paths.map((path) => sourceOf(path)), { ...options, ...changes });
const line = (record: unknown) => `${JSON.stringify(record)}\n`;

test("documents keep text, id and metadata, whatever the line breaks", async () => {
  const first = file(`${line({ id: "one", text: "Ünïcode 🌊 text", topic: "t" }).trim()}\r\n${line({ orig_doc: "second" })}`);
  const second = file(JSON.stringify({ text: "no final newline" }));
  const corpus = await open([first, second]);
  expect(corpus.size).toBe(3);
  expect(corpus.document(0)).toEqual({ id: "one", text: "Ünïcode 🌊 text", source: { topic: "t", file: basename(first), line: 1 } });
  expect(corpus.document(1)).toMatchObject({ text: "second", source: { file: basename(first), line: 2 } });
  expect(corpus.document(2).text).toBe("no final newline");
  const reversed = await open([second, first]);
  expect(reversed.document(0).id).toBe(corpus.document(2).id);
  corpus.close();
  reversed.close();
});

test("lines longer than a read chunk are indexed right", async () => {
  const long = Array.from({ length: 5 }, (_, i) => ({ text: `${i} ${"word ".repeat(30_000)}${i}` }));
  const corpus = await open([file(long.map(line).join(""))], { maxWords: 1e9 });
  long.forEach((record, i) => expect(corpus.document(i).text).toBe(record.text));
  corpus.close();
});

test("documents are cut to whole words", () => {
  expect(firstWords("one  two\nthree four", 2)).toBe("one  two");
  expect(firstWords("one two", 2)).toBe("one two");
});

test("draws are seeded, and repeat no document before all were drawn", async () => {
  const corpus = await open([file(Array.from({ length: 12 }, (_, i) => line({ text: `document ${i}` })).join(""))]);
  const draws = (seed: number) => Array.from({ length: 8 }, (_, i) => corpus.draw({ seed, iteration: Math.floor(i / 4), index: i % 4, perIteration: 4 }).id);
  const epoch = (seed: number, from: number) =>
    Array.from({ length: 3 }, (_, iteration) => [0, 1, 2, 3].map((index) => corpus.draw({ seed, iteration: from + iteration, index, perIteration: 4 }).id)).flat();
  expect(draws(1)).toEqual(draws(1));
  expect(draws(1)).not.toEqual(draws(2));
  expect(new Set(epoch(1, 0)).size).toBe(12);
  expect(new Set(epoch(1, 3)).size).toBe(12);
  expect(epoch(1, 0)).not.toEqual(epoch(1, 3));
  corpus.close();
});

describe("bad input names the file, the line and the remedy", () => {
  const good = line({ text: "good" });
  const cases: readonly (readonly [string, string | Uint8Array, number, string])[] = [
    ["an empty line", `${good}\n${line({ text: "more" })}`, 2, "the line is empty"],
    ["malformed JSON", `${good}{"text": "cut\n`, 2, "JSON"],
    ["no text", good + line({ title: "x" }), 2, `neither "text" nor "orig_doc"`],
    ["blank text", line({ text: "  " }), 1, `neither "text" nor "orig_doc"`],
    ["text that is no string", line({ text: 3 }), 1, "text"],
    ["no object", good + line([1]), 2, "expected object"],
    ["invalid UTF-8", Buffer.concat([Buffer.from('{"text":"'), Buffer.of(0xff, 0xfe), Buffer.from('"}\n')]), 1, "encoded data"],
    ["an id used twice", line({ id: "a", text: "x" }) + line({ id: "a", text: "y" }), 2, "occurs twice"],
  ];
  test.each(cases)("%s", async (_name, content, number, finding) => {
    const path = file(content);
    const error: unknown = await open([path]).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "corpus.line", details: { path, line: number } });
    expect(String(error)).toContain(finding);
    expect(String(error)).toContain(`Line ${number} of the corpus file ${path}`);
  });

  test("a missing file, a directory, an empty corpus, a broken manifest", async () => {
    await expect(open([join(root, "none")])).rejects.toMatchObject({ code: "corpus.file" });
    await expect(open([mkdtempSync(join(root, "folder-"))])).rejects.toMatchObject({ code: "corpus.file" });
    await expect(open([file("")])).rejects.toMatchObject({ code: "corpus.empty" });
    expect(() => manifestPaths(file("{}"))).toThrow(expect.objectContaining({ code: "corpus.file" }) as Error);
  });
});

test("the bundled corpus opens", async () => {
  const corpus = await open(bundledCorpus(), { maxWords: 200 });
  expect(corpus.size).toBeGreaterThanOrEqual(500);
  corpus.close();
});
