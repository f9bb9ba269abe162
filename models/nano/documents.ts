import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../../src/core/digest.ts";
import { SpadeError } from "../../src/core/errors.ts";
import type { Rng } from "../../src/core/seed.ts";
import { syntheticDocument } from "./synthetic-documents.ts";
import { randomWords } from "./words.ts";

export interface Quantity {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

/** A passage with what is known about it; the model sees `text` only, the rest is for the generators. */
export interface GroundingDocument {
  readonly id: string;
  readonly text: string;
  /** Nouns that occur in the text. */
  readonly terms: readonly string[];
  readonly quantities: readonly Quantity[];
  /** Words of the text that name successive steps; may be empty. */
  readonly sequence: readonly string[];
}

export type DocumentSource = (rng: Rng) => GroundingDocument;

/** Every this many-th passage (by digest of its id) is never used in pretraining. */
const heldOutEvery = 5;

/** Whether a passage is kept from pretraining. */
export function isHeldOut(id: string): boolean {
  return Number.parseInt(sha256(id).slice(0, 8), 16) % heldOutEvery === 0;
}

/**
 * The bundled passages in `directory` (`*.jsonl`), in the order of their files; an absent directory gives none.
 * @throws SpadeError `corpus.malformed` naming file and line.
 */
export function loadPassages(directory: string): GroundingDocument[] {
  const files = readdirSync(directory).filter((name) => name.endsWith(".jsonl")).sort();
  return files.flatMap((name) => readFileSync(join(directory, name), "utf8").split("\n").flatMap((line, i) => (line.trim() === "" ? [] : [passage(line, `${name}:${i + 1}`)])));
}

function passage(line: string, where: string): GroundingDocument {
  try {
    const { id, text, terms, quantities, sequence } = JSON.parse(line) as GroundingDocument;
    const found = new Set(text.split(/[^A-Za-z]+/));
    const values = new Set(text.match(/\d+/g)?.map(Number));
    return { id, text, terms: terms.filter((term) => found.has(term)), quantities: quantities.filter((q) => values.has(q.value)), sequence };
  } catch (cause) {
    throw new SpadeError("corpus.malformed", `${where} is not a passage with id, text, terms, quantities and sequence; correct or remove the line.`, { cause });
  }
}

/** The source used in pretraining: passages that are not held out, mostly altered, mixed with invented ones. */
export function pretrainingDocuments(passages: readonly GroundingDocument[], syntheticShare = 0.4): DocumentSource {
  const kept = passages.filter(({ id, terms }) => !isHeldOut(id) && terms.length >= 4);
  return (rng) => {
    if (kept.length === 0 || rng.chance(syntheticShare)) return syntheticDocument(rng);
    const document = rng.pick(kept);
    return rng.chance(0.25) ? document : altered(rng, document);
  };
}

/** The passages kept from pretraining, unaltered. */
export function heldOutDocuments(passages: readonly GroundingDocument[]): DocumentSource {
  const kept = passages.filter(({ id, terms }) => isHeldOut(id) && terms.length >= 4);
  return (rng) => rng.pick(kept);
}

/** A copy with some terms and numbers consistently replaced, so that they must be copied, not remembered. */
export function altered(rng: Rng, document: GroundingDocument): GroundingDocument {
  const chosen = document.terms.filter(() => rng.chance(0.7));
  const fresh = randomWords(rng, chosen.length).filter((word) => !document.terms.includes(word));
  const words = new Map(chosen.flatMap((term, i) => (fresh[i] === undefined ? [] : [[term, fresh[i]] as const])));
  const values = new Map(document.quantities.map(({ value }) => [value, rng.chance(0.8) ? rng.int(2, 20) : rng.int(21, 99)] as const));
  const text = document.text.replace(/[A-Za-z]+|\d+/g, (token) => {
    if (/\d/.test(token)) return String(values.get(Number(token)) ?? token);
    const replacement = words.get(token) ?? words.get(token.toLowerCase());
    if (replacement === undefined) return token;
    return /^[A-Z]/.test(token) ? replacement.charAt(0).toUpperCase() + replacement.slice(1) : replacement;
  });
  return {
    id: `${document.id}-altered`,
    text,
    terms: document.terms.map((term) => words.get(term) ?? term),
    quantities: document.quantities.map((q) => ({ name: words.get(q.name) ?? q.name, value: values.get(q.value) ?? q.value, unit: words.get(q.unit) ?? q.unit })),
    sequence: document.sequence.map((word) => words.get(word) ?? word),
  };
}
