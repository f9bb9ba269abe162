import { describe, expect, it } from "vitest";
import { Rng } from "../../src/core/seed.ts";
import { altered, heldOutDocuments, isHeldOut, loadPassages, pretrainingDocuments } from "./documents.ts";
import { syntheticDocument } from "./synthetic-documents.ts";

const passages = loadPassages(new URL("../../corpora", import.meta.url).pathname);
const wordsOf = (text: string): Set<string> => new Set(text.split(/[^A-Za-z]+/).map((word) => word.toLowerCase()));

describe("documents of the warm start", () => {
  it("keeps about every fifth passage from pretraining", () => {
    const held = passages.filter(({ id }) => isHeldOut(id));
    expect(held.length / passages.length).toBeGreaterThan(0.1);
    expect(held.length / passages.length).toBeLessThan(0.3);
    const ids = new Set(held.map(({ id }) => id));
    const [source, rng] = [pretrainingDocuments(passages), new Rng(1)];
    for (let i = 0; i < 500; i++) expect(ids.has(source(rng).id.replace("-altered", ""))).toBe(false);
    expect(ids.has(heldOutDocuments(passages)(rng).id)).toBe(true);
  });

  it("has its terms and values in the text after terms and values were replaced", () => {
    const rng = new Rng(2);
    for (const passage of passages) {
      const document = altered(rng, passage);
      const found = wordsOf(document.text);
      expect(document.terms.filter((term) => !found.has(term.toLowerCase()))).toEqual([]);
      for (const { value } of document.quantities) expect(document.text).toContain(String(value));
    }
  });

  it("invents passages that hold their terms and values", () => {
    const rng = new Rng(3);
    for (let i = 0; i < 200; i++) {
      const document = syntheticDocument(rng);
      const found = wordsOf(document.text);
      expect(document.terms.filter((term) => !found.has(term))).toEqual([]);
      for (const { value, unit } of document.quantities) {
        expect(document.text).toContain(String(value));
        expect(found.has(unit)).toBe(true);
      }
    }
  });
});
