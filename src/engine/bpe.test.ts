import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bpeTokenizer, loadTokenizer, parseBpe, serialiseBpe, trainBpe } from "./bpe.ts";

const program = [
  "class Mill(Game):",
  "    def reset(self, seed):",
  '        self.items = ["mill", "pond", "gear"]',
  "        self.total = 12 % 5",
  '        return "How many gears does the mill have?"',
].join("\n");
const texts = Array.from({ length: 20 }, (_, i) => `${program}\n# the mill has ${i} gears and a pond`);
const model = trainBpe(texts, 350);
const tokenizer = bpeTokenizer(model);

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.string({ unit: "grapheme", maxLength: 60 }),
  fc.array(fc.constantFrom("self.", "(self, ", "(self", "\\boxed{", "\\", "}", "mill", "Gear", " ", "  ", "\n", "\n    ", "7", "_", "é", "—", '"', ", ", "(", "\0", "﻿"), { maxLength: 40 }).map((parts) => parts.join("")),
);

describe("byte-level BPE", () => {
  it("decodes what it encoded, for any text", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(tokenizer.decode(tokenizer.encode(text))).toBe(text.toWellFormed());
      }),
      { numRuns: 2000 },
    );
  });

  it("never makes a special token from text, and every id is in the vocabulary", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.constantFrom("<pad>", "end", "<|end|>")), (text) => {
        for (const id of tokenizer.encode(text)) {
          expect(id).toBeGreaterThanOrEqual(5);
          expect(id).toBeLessThan(tokenizer.vocabularySize);
        }
      }),
    );
  });

  it("decodes any ids at all, special tokens to nothing", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(tokenizer.vocabularySize - 1)), (ids) => {
        expect(tokenizer.decode(ids)).toBeTypeOf("string");
      }),
    );
    expect(tokenizer.decode([0, 1, 2, 3, 4])).toBe("");
    expect(tokenizer.decode([5 + 0xff])).toBe("\uFFFD");
  });

  it("gives a word the same tokens in a sentence and in a program", () => {
    const inSentence = Array.from(tokenizer.encode("near the mill there"));
    const inProgram = Array.from(tokenizer.encode('"mill"'));
    const word = Array.from(tokenizer.encode("mill"));
    expect(inSentence.join()).toContain(word.join());
    expect(inProgram.slice(1, -1)).toEqual(word);
  });

  it("keeps every digit a token of its own", () => {
    expect(tokenizer.encode("2048")).toHaveLength(4);
    for (const id of tokenizer.encode(program)) expect(tokenizer.decode([id])).toMatch(/^(?:[0-9]|[^0-9]*)$/u);
  });

  it("learns the same merges from the same texts, and merges shorten the text", () => {
    expect(trainBpe(texts, 350)).toEqual(model);
    expect(tokenizer.vocabularySize).toBe(350);
    expect(tokenizer.encode(program).length).toBeLessThan(program.length / 3);
    expect(tokenizer.encode("(self, ")).toHaveLength(1);
  });

  it("stops when no pair occurs twice", () => {
    expect(trainBpe(["ab"], 350).merges).toHaveLength(0);
  });
});

describe("tokenizer.json", () => {
  it("round-trips", async () => {
    const directory = await mkdtemp(join(tmpdir(), "bpe-"));
    const path = join(directory, "tokenizer.json");
    await writeFile(path, serialiseBpe(model));
    const loaded = await loadTokenizer(path);
    await rm(directory, { recursive: true });
    expect(loaded.encode(program)).toEqual(tokenizer.encode(program));
  });

  it.each([
    ["not JSON", "{", /t\.json.*not JSON.*nano:pretrain/su],
    ["another file", '{"a":1}', /format is undefined/u],
    ["null", "null", /format/u],
    ["a later version", '{"format":"spade-bpe","version":2}', /version is 2/u],
    ["other special tokens", '{"format":"spade-bpe","version":1,"special":["a"],"merges":[]}', /special/u],
    ["a merge of a later id", serialiseBpe({ merges: [[300, 70]] }), /merge 0 is \[300,70\]/u],
    ["no merges", serialiseBpe({ merges: [] }).replace(/\[\s*\]/u, "3"), /not a list/u],
  ])("refuses %s", (_name, text, message) => {
    expect(() => parseBpe(text, "t.json")).toThrow(expect.objectContaining({ code: "engine.tokenizer", message: expect.stringMatching(message) as string }));
  });

  it("names a missing file and the remedy", async () => {
    await expect(loadTokenizer("/nowhere/tokenizer.json")).rejects.toThrow(/\/nowhere\/tokenizer\.json.*nano:pretrain/u);
  });
});
