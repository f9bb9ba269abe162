import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { SpadeError, invariant, messageOf } from "../core/errors.ts";
import { Rng, deriveSeed } from "../core/seed.ts";
import { readLines } from "./line-index.ts";
import { firstWords, lineError, parseRecord } from "./record.ts";
import type { Document } from "./record.ts";

/** Names one draw: the `index`-th design task of an iteration with `perIteration` tasks. */
export interface Draw {
  readonly seed: number;
  readonly iteration: number;
  readonly index: number;
  readonly perIteration: number;
}

/** Documents on disk; only their places are in memory. */
export interface Corpus {
  /** Number of documents. */
  readonly size: number;
  /** The document at a position, in order of files and lines, cut to `maxWords`. @throws corpus.line when the file changed since it was opened */
  document(position: number): Document;
  /** The document of a draw: equal draws give equal documents, and every document is drawn once before any is drawn again. */
  draw(draw: Draw): Document;
  close(): void;
}

interface Place {
  readonly file: number;
  readonly line: number;
  readonly start: number;
  readonly bytes: number;
}

/**
 * Opens JSONL files, checking every line in one streaming pass; nothing but the lines' places stays in memory.
 * @throws corpus.file, corpus.line, corpus.empty
 */
export async function openCorpus(paths: readonly string[], options: { readonly maxWords: number }): Promise<Corpus> {
  const places = await indexFiles(paths);
  if (places.length === 0) throw new SpadeError("corpus.empty", `The corpus (${paths.join(", ") || "no files"}) holds no document. Name at least one JSONL file in corpus.paths.`);
  const descriptors = paths.map((path) => openSync(path, "r"));
  const document = (position: number): Document => {
    const place = places[position];
    invariant(place !== undefined, `a corpus position lies in [0, ${places.length}) (got ${position})`);
    const content = Buffer.alloc(place.bytes);
    readSync(descriptors[place.file] ?? -1, content, 0, place.bytes, place.start);
    const parsed = parseRecord(content, { path: paths[place.file] ?? "", line: place.line });
    return { ...parsed, text: firstWords(parsed.text, options.maxWords) };
  };
  const positionOf = epochPositions(places.length);
  return { size: places.length, document, draw: (draw) => document(positionOf(draw)), close: () => descriptors.forEach(closeSync) };
}

async function indexFiles(paths: readonly string[]): Promise<readonly Place[]> {
  const places: Place[] = [];
  const ids = new Set<string>();
  for (const [file, path] of paths.entries()) {
    for await (const { number: line, start, bytes, content } of readLines(path)) {
      const { id } = parseRecord(content, { path, line });
      if (ids.has(id)) throw lineError({ path, line }, `its id or text (${id}) occurs twice in the corpus`);
      ids.add(id);
      places.push({ file, line, start, bytes });
    }
  }
  return places;
}

/** Draws without replacement: the n-th draw of a run is the n-th place of an endless row of shuffles, each named by its epoch. */
function epochPositions(size: number): (draw: Draw) => number {
  let cached: { readonly name: string; readonly order: readonly number[] } | undefined;
  return ({ seed, iteration, index, perIteration }) => {
    const count = iteration * perIteration + index;
    const epoch = Math.floor(count / size);
    const name = `${seed}/${epoch}`;
    if (cached?.name !== name) cached = { name, order: new Rng(deriveSeed(seed, "corpus", epoch)).shuffle(Array.from({ length: size }, (_, i) => i)) };
    return cached.order[count % size] ?? 0;
  };
}

const manifestSchema = z.looseObject({ files: z.array(z.looseObject({ file: z.string() })).min(1) });

/** Paths of the files that a corpus manifest lists, in its order. @throws corpus.file */
export function manifestPaths(manifest: string): readonly string[] {
  try {
    const { files } = manifestSchema.parse(JSON.parse(readFileSync(manifest, "utf8")));
    return files.map(({ file }) => join(dirname(manifest), file));
  } catch (cause) {
    throw new SpadeError("corpus.file", `Cannot read the corpus manifest ${manifest}: ${messageOf(cause)}. Reinstall the package, or name files in corpus.paths.`, {
      details: { manifest },
      cause,
    });
  }
}

/** Paths of the corpus bundled with the package. @throws corpus.file */
export function bundledCorpus(): readonly string[] {
  return manifestPaths(join(import.meta.dirname, "..", "..", "corpora", "manifest.json"));
}
