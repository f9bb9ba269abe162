import type { ProgramFacts } from "../sandbox/sandbox.ts";
import type { GateContext } from "./context.ts";
import { type Evidence, Rejection } from "./record.ts";
import { isNumber, plainTokens } from "./text.ts";

/** What a program is compared by: two sets of hashes, each sorted and distinct. */
export interface Fingerprint {
  /** Hashes of the syntax tree's normalised subtrees (`ProgramFacts.shingles`). */
  readonly program: readonly number[];
  /** Hashes of every three neighbouring words of the first observations; numbers count as one word. */
  readonly text: readonly number[];
}

/** An earlier program that a new one is compared with. */
export interface ArchivedProgram extends Fingerprint {
  readonly id: string;
}

/** An archive entry and how alike it is: Jaccard indices in [0, 1]. */
export interface Neighbour {
  readonly id: string;
  readonly program: number;
  readonly text: number;
}

/** Words of one shingle of text. */
const shingleWords = 3;

/** Fingerprint of a program; compare only texts of the same seeds. */
export function fingerprint(facts: Pick<ProgramFacts, "shingles">, observations: readonly string[]): Fingerprint {
  const text = new Set<number>();
  for (const observation of observations) {
    const tokens = plainTokens(observation).map((token) => (isNumber(token) ? "#" : token));
    for (let at = 0; at === 0 || at + shingleWords <= tokens.length; at++) text.add(hash(tokens.slice(at, at + shingleWords).join(" ")));
  }
  return { program: facts.shingles, text: [...text].sort((a, b) => a - b) };
}

/** The archive entry that is most alike in program and text together (mean of both indices); the first of equals. */
export function nearestNeighbour(own: Fingerprint, archive: readonly ArchivedProgram[]): Neighbour | undefined {
  let nearest: Neighbour | undefined;
  for (const { id, program, text } of archive) {
    const found = { id, program: jaccard(own.program, program), text: jaccard(own.text, text) };
    if (nearest === undefined || found.program + found.text > nearest.program + nearest.text) nearest = found;
  }
  return nearest;
}

/** Fingerprint of the candidate, by the probe seeds that all candidates share: 0, 1, 2 … */
export async function fingerprintOf(context: GateContext): Promise<Fingerprint> {
  const observations = await context.observations();
  return fingerprint(context.handle.facts, observations.filter((_, i) => context.seeds[i] === i));
}

/** Rejects a program that is nearly an earlier one: alike both in its syntax and in what it shows. */
export async function novelty(context: GateContext): Promise<Evidence> {
  const { maxProgramSimilarity, maxTextSimilarity } = context.config.novelty;
  const own = await fingerprintOf(context);
  const tooNear = context.archive.filter(({ program, text }) => jaccard(own.program, program) > maxProgramSimilarity && jaccard(own.text, text) > maxTextSimilarity);
  const nearest = nearestNeighbour(own, tooNear.length > 0 ? tooNear : context.archive);
  const evidence = { archive: context.archive.length, ...(nearest === undefined ? {} : { nearest }) };
  if (tooNear.length === 0 || nearest === undefined) return evidence;
  const shown = `program ${nearest.program.toFixed(2)}, text ${nearest.text.toFixed(2)}`;
  throw new Rejection("near", `The program is nearly the earlier "${nearest.id}": similarity of ${shown}.`, {
    ...evidence,
    expected: `program at most ${maxProgramSimilarity} or text at most ${maxTextSimilarity}`,
    got: shown,
  });
}

/** Size of the intersection over size of the union of two sorted sets; 1 for two empty ones. */
function jaccard(a: readonly number[], b: readonly number[]): number {
  const known = new Set(a);
  const shared = b.reduce((count, item) => count + Number(known.has(item)), 0);
  const all = a.length + b.length - shared;
  return all === 0 ? 1 : shared / all;
}

/** FNV-1a of a text's UTF-16 units, 32 bit. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}
