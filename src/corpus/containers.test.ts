import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { openCorpus, type CorpusOptions } from "./corpus.ts";
import { corpusOptions, jsonl, parquet, sourceOf, writeContainers, type TestRecord } from "./testing/containers.ts";

const root = mkdtempSync(join(tmpdir(), "spade-containers-"));
afterAll(() => rmSync(root, { recursive: true }));
const folder = (): string => mkdtempSync(join(root, "case-"));

/** Everything that a corpus says of itself but how often it met duplicates. */
async function contents(path: string, { sample, ...changes }: Partial<CorpusOptions> & { readonly sample?: number } = {}) {
  const corpus = await openCorpus([sourceOf(path, sample === undefined ? {} : { sample })], corpusOptions(folder(), changes));
  try {
    const draws = Array.from({ length: 2 * corpus.size }, (_, index) => corpus.draw({ seed: 7, iteration: 0, index, perIteration: 2 * corpus.size }));
    return { size: corpus.size, digest: corpus.digest, lengths: corpus.lengths(), documents: Array.from({ length: corpus.size }, (_, i) => corpus.document(i)).map(({ id, text }) => ({ id, text })), draws: draws.map(({ id }) => id) };
  } finally {
    corpus.close();
  }
}

const words = fc.array(fc.constantFrom("a", "bee", "sea  deer", "Ünï🌊", "line\nbreak", "\u2028"), { minLength: 1, maxLength: 6 }).map((parts) => `${parts.join(" ")} x`);
const records = fc.array(fc.record({ text: words }), { minLength: 1, maxLength: 40 });

test("the same rows give the same documents and draws whichever container holds them", async () => {
  await fc.assert(
    fc.asyncProperty(records, fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }), fc.integer({ min: 1, max: 4 }), async (rows, sample, minWords) => {
      const containers = writeContainers(folder(), rows);
      const options = { keep: { minWords, maxWords: 8, minCharacters: 0 }, ...(sample === undefined ? {} : { sample }) };
      const acceptable = new Set(rows.map(({ text }) => text.trim()).filter((text) => { const n = text.split(/\s+/).length; return n >= minWords && n <= 8; }));
      if (acceptable.size === 0) return;
      const expected = await contents(containers.jsonl, options);
      expect(expected.size).toBe(Math.min(acceptable.size, sample ?? Infinity));
      expect(expected.documents.every(({ text }) => acceptable.has(text))).toBe(true);
      for (const [name, path] of Object.entries(containers)) expect(await contents(path, options), name).toEqual(expected);
    }),
    { numRuns: 8 },
  );
});

test("a folder of texts holds the same documents as their JSONL", async () => {
  const texts = ["First text.", "Second\ntext 🌊.", "Third."];
  const path = folder();
  mkdirSync(join(path, "deep"));
  texts.forEach((text, i) => writeFileSync(join(path, i === 1 ? "deep/b.txt" : `${["a", "", "e"][i] ?? ""}.py`), `${text}\n`));
  writeFileSync(join(path, ".hidden"), Buffer.of(0xff));
  const lines = join(folder(), "texts.jsonl");
  writeFileSync(lines, jsonl(texts.map((text) => ({ text }))));
  expect(await contents(path)).toEqual(await contents(lines));
  writeFileSync(join(path, "z.txt"), Buffer.of(0x61, 0xff));
  await expect(contents(path)).rejects.toMatchObject({ code: "corpus.file", message: expect.stringContaining("z.txt") as string });
});

test.each(["UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD", "BROTLI"] as const)("Parquet packed with %s is read", async (codec) => {
  const rows: TestRecord[] = Array.from({ length: 30 }, (_, i) => ({ text: `document ${i} ${"word ".repeat(50)}`, id: `id-${i}` }));
  const path = join(folder(), "file.parquet");
  writeFileSync(path, parquet(rows, { codec }));
  const { documents } = await contents(path);
  expect(documents).toEqual(rows.map(({ text, id }) => ({ id, text: text?.trim() })));
});

test("a sample is the same part of a larger source for the same seed, and another for another seed", async () => {
  const path = join(folder(), "rows.jsonl");
  writeFileSync(path, jsonl(Array.from({ length: 500 }, (_, i) => ({ text: `document ${i}` }))));
  const ids = async (sample: number, sampleSeed: number) => (await contents(path, { sample, sampleSeed })).documents.map(({ id }) => id);
  const [few, more, other] = [await ids(20, 1), await ids(60, 1), await ids(20, 2)];
  expect(more.slice(0, 20)).toEqual(few);
  expect(new Set(few).size).toBe(20);
  expect(other).not.toEqual(few);
});
