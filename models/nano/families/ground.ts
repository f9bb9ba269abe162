import type { Rng } from "../../../src/core/seed.ts";
import { steeringWords } from "../../../src/designer/keywords.ts";
import type { GroundingDocument } from "../documents.ts";

const stop = new Set(
  `about above after again along among another because before behind being below between beyond carry could during each every first found further given
  himself instead known later least longer means might never often other others place rather second several shall should since small still their there
  these thing things third those three through times today together towards twice under until using usually where which while whole whose without would
  written years enough itself almost always comes makes takes makes after`.split(/\s+/),
);

/** Words up to this length come first: they are few tokens, which a small policy copies without slips. */
const shortWord = 5;

const plain = (word: string): boolean => /^[a-z]{2,14}$/.test(word) && !steeringWords.has(word);
const wordsIn = ({ text }: GroundingDocument): string[] => text.split(/[^A-Za-z]+/);
const unitsOf = ({ quantities }: GroundingDocument): Set<string> => new Set(quantities.map(({ unit }) => unit));

/** A passage's words in drawn order, short ones first and nouns before others of their length. */
export function drawnWords(rng: Rng, document: GroundingDocument): string[] {
  const found = wordsIn(document);
  const present = new Set(found);
  const units = unitsOf(document);
  const terms = new Set(document.terms.filter((term) => plain(term) && present.has(term) && !units.has(term)));
  const spare = found.filter((word) => word.length >= 5 && plain(word) && !stop.has(word) && !terms.has(word) && !units.has(word));
  const words = [...new Set([...rng.shuffle([...terms]), ...rng.shuffle(spare)])];
  return words.map((word, i) => ({ word, at: Math.max(word.length, shortWord) + i / words.length })).sort((a, b) => a.at - b.at).map(({ word }) => word);
}

/** Hands out the words and numbers of one passage, each word once. */
export class Ground {
  /** Words handed out so far, units among them. */
  readonly handed: string[] = [];
  /** Units handed out so far. */
  readonly handedUnits = new Set<string>();
  private readonly rng: Rng;
  private readonly pool: string[];
  private readonly values: readonly number[];
  private readonly unitPool: readonly string[];

  /** `words`: what to hand out, in this order. */
  constructor(rng: Rng, document: GroundingDocument, words: readonly string[]) {
    this.rng = rng;
    const present = new Set(wordsIn(document));
    this.unitPool = [...unitsOf(document)].filter((unit) => plain(unit) && present.has(unit));
    this.pool = [...words];
    this.values = document.quantities.map((q) => q.value);
  }

  /** How many words are left. */
  get left(): number {
    return this.pool.length;
  }

  /** The next unused word: short ones first, terms before others of their length. */
  word(): string {
    const word = this.pool.shift() ?? "thing";
    this.handed.push(word);
    return word;
  }

  words(count: number): string[] {
    return Array.from({ length: count }, () => this.word());
  }

  /** A unit that the passage uses, or `otherwise`. */
  unit(otherwise: string): string {
    const unit = this.unitPool.length === 0 ? otherwise : this.rng.pick(this.unitPool);
    if (this.unitPool.length > 0) {
      this.handed.push(unit);
      this.handedUnits.add(unit);
    }
    return unit;
  }

  /** A number of the passage in [low, high] if it has one, else a random one. */
  number(low: number, high: number): number {
    const fitting = this.values.filter((value) => Number.isInteger(value) && value >= low && value <= high);
    return fitting.length === 0 ? this.rng.int(low, high) : this.rng.pick(fitting);
  }
}

