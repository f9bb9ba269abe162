import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { SpadeError, invariant, messageOf } from "../core/errors.ts";
import { openIndex, type CorpusSource, type IndexOptions } from "./build.ts";
import { placeOf, textHash, type Counts, type IndexedDocument, type LengthSummary } from "./document-index.ts";
import { documentOf, parseLine, textEntry, type Document, type Entry, type Fields, type Place } from "./record.ts";
import { epochPositions, type Draw } from "./sampling.ts";

/** Documents on disk, whatever holds them; even their places are on disk. */
export interface Corpus {
  /** Number of documents. */
  readonly size: number;
  /** SHA-256 over the digests of all texts in order: the same whichever container holds them. */
  readonly digest: string;
  readonly counts: Counts;
  /** The document at a position, in order of sources and rows (of a sampled source: in the order of the lot), cut to `maxWords`. @throws corpus.changed */
  document(position: number): Document;
  /** The document of a draw: equal draws give equal documents, and every document is drawn once before any is drawn again. @throws corpus.changed */
  draw(draw: Draw): Document;
  /** Lengths of the uncut documents. */
  lengths(): LengthSummary;
  close(): void;
}

/** How a corpus is read. */
export interface CorpusOptions extends IndexOptions {
  /** Longer documents are cut after this many words. */
  readonly maxWords: number;
}

/**
 * Opens a corpus: uses its index, else reads its sources once in a stream, checks every row that it needs, and makes the index.
 * Documents of compressed and of Parquet files are copied into the index; of plain files it holds the places only.
 * @throws corpus.*
 */
export async function openCorpus(sources: readonly CorpusSource[], options: CorpusOptions): Promise<Corpus> {
  const index = await openIndex(sources, options);
  const { counts, digest } = index.header;
  if (counts.documents === 0) {
    index.close();
    throw emptyCorpus(sources, counts);
  }
  const document = (position: number): Document => {
    const found = index.at(position);
    const fields = sources[found.source];
    invariant(fields !== undefined, "the index of a corpus knows its sources only");
    const place = placeOf(found);
    return documentOf(readEntry(found, place, fields), place, options.maxWords);
  };
  const positionOf = epochPositions(counts.documents);
  return { size: counts.documents, digest, counts, document, draw: (draw) => document(positionOf(draw)), lengths: () => index.lengths(), close: () => index.close() };
}

function emptyCorpus(sources: readonly CorpusSource[], { rows, outsideLimits }: Counts): SpadeError {
  const names = sources.map(({ path }) => path).join(", ") || "no files";
  const remedy = outsideLimits > 0 ? `All its ${rows} rows are outside the length limits: widen corpus.keep.` : "Name at least one document in corpus.paths or corpus.sources.";
  return new SpadeError("corpus.empty", `The corpus (${names}) holds no document. ${remedy}`);
}

/** Reads a document where the index says it is, and makes sure that it is the one that was indexed. */
function readEntry({ record, kind, start, bytes, hash }: IndexedDocument, place: Place, fields: Fields): Entry {
  let entry: Entry;
  try {
    const content = record ?? readAt(place.path, start, bytes);
    entry = kind === "text" ? textEntry(content, place) : parseLine(content, fields, place);
  } catch (cause) {
    throw changed(place, messageOf(cause), cause);
  }
  if (textHash(entry.text) !== hash) throw changed(place, "it holds another text");
  return entry;
}

function readAt(path: string, start: number, bytes: number): Uint8Array {
  const file = openSync(path, "r");
  try {
    const content = Buffer.alloc(bytes);
    return content.subarray(0, readSync(file, content, 0, bytes, start));
  } finally {
    closeSync(file);
  }
}

function changed({ path, ...position }: Place, finding: string, cause?: unknown): SpadeError {
  const where = position.line === undefined ? "" : ` (line ${position.line})`;
  return new SpadeError("corpus.changed", `The corpus file ${path}${where} changed after it was indexed: ${finding}. Put the file back as it was and resume, or start a new run.`, { details: { path, ...position }, cause });
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
