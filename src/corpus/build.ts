import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { canonicalJson, sha256 } from "../core/digest.ts";
import { SpadeError, messageOf } from "../core/errors.ts";
import { DocumentIndex, IndexBuilder } from "./document-index.ts";
import { isDirect, listFiles, type CorpusFile } from "./files.ts";
import { isPinned, parseLocation } from "./location.ts";
import type { Fields, LengthLimits } from "./record.ts";
import type { Hub } from "./remote.ts";
import { countRows, readRows, type Reading } from "./rows.ts";
import { lowestPriority, rowPriority } from "./sampling.ts";

/** One source of documents. */
export interface CorpusSource extends Fields {
  /** A file, a folder, an address of a Parquet file, or `hf://datasets/OWNER/NAME@COMMIT/PREFIX`. */
  readonly path: string;
  /** Documents taken from it by lot; absent: all. */
  readonly sample?: number;
}

/** Which documents of the sources are kept, and where the index is. */
export interface IndexOptions {
  readonly keep: LengthLimits;
  readonly sampleSeed: number;
  readonly hub: Hub;
  /** Where indexes are kept; made when needed. */
  readonly cacheDirectory: string;
  /** Told before and after the sources are read. */
  readonly notice?: (text: string) => void;
}

/** Raise it when an index would no longer be read or filled as before. */
const format = 1;
/** Plain files of less than this together are indexed anew in memory at each start: that takes a second, and leaves no file behind. */
const memoryLimitBytes = 64 * 2 ** 20;

/**
 * The index of a corpus: from the cache when its sources are as they were, else made by reading them once.
 * An index gets its name when it is whole: a killed reader leaves none, and the next begins again.
 * @throws corpus.*
 */
export async function openIndex(sources: readonly CorpusSource[], options: IndexOptions): Promise<DocumentIndex> {
  const { keep, sampleSeed, hub, cacheDirectory, notice } = options;
  const locations = sources.map(({ path }) => parseLocation(path));
  const known = await mapInTurn(locations, (location) => (isPinned(location) ? undefined : listFiles(location, hub)));
  const identity = { key: sha256(canonicalJson({ format, sources, keep, sampleSeed, endpoint: hub.endpoint })), version: sha256(canonicalJson(known.map((files) => files ?? "pinned"))) };
  const path = join(cacheDirectory, `${identity.key.slice(0, 16)}.sqlite`);
  const cached = DocumentIndex.open(path, identity);
  if (cached !== undefined) return cached;
  const files = await mapInTurn(locations, (location, i) => known[i] ?? listFiles(location, hub));
  const readings = sources.map(({ textFields, idField, sample }, i): SourceReading => ({ files: files[i] ?? [], fields: { textFields, idField }, hub, ...(sample === undefined ? {} : { sample }) }));
  if (isSmall(files.flat())) return fill(":memory:", readings, { ...options, identity });
  notice?.(`corpus: reading ${sources.map((source) => source.path).join(", ")} once; later starts use the index ${path}`);
  const index = await fillCached(path, readings, { ...options, identity });
  const { rows, documents, duplicates, outsideLimits } = index.header.counts;
  notice?.(`corpus: ${documents} documents of ${rows} rows read, ${duplicates} duplicates, ${outsideLimits} outside the length limits`);
  return index;
}

interface SourceReading extends Reading {
  readonly sample?: number;
}

async function mapInTurn<T, R>(items: readonly T[], map: (item: T, index: number) => R | Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  for (const [i, item] of items.entries()) results.push(await map(item, i));
  return results;
}

function isSmall(files: readonly CorpusFile[]): boolean {
  return files.every(isDirect) && files.reduce((sum, { bytes = Infinity }) => sum + bytes, 0) <= memoryLimitBytes;
}

type Identified = IndexOptions & { readonly identity: { readonly key: string; readonly version: string } };

/** Fills an index in a directory of its own, and moves it to its name. */
async function fillCached(path: string, readings: readonly SourceReading[], options: Identified): Promise<DocumentIndex> {
  const directory = writing(options, () => {
    mkdirSync(options.cacheDirectory, { recursive: true });
    removeLeftovers(options.cacheDirectory);
    return mkdtempSync(`${path}.${process.pid}@${hostname()}.`);
  });
  try {
    const unfinished = join(directory, "index.sqlite");
    (await fill(unfinished, readings, options)).close();
    writing(options, () => renameSync(unfinished, path));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  const index = DocumentIndex.open(path, options.identity);
  if (index === undefined) throw cacheError(options, "the index is not there any more");
  return index;
}

/** Removes what killed readers of this machine left half-written. */
function removeLeftovers(cacheDirectory: string): void {
  for (const name of readdirSync(cacheDirectory)) {
    const [, pid, host] = /\.sqlite\.(\d+)@(.+)\.\w{6}$/.exec(name) ?? [];
    if (host === hostname() && !isRunning(Number(pid))) rmSync(join(cacheDirectory, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs, but is another user's.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

async function fill(path: string, readings: readonly SourceReading[], { keep, sampleSeed, identity, ...options }: Identified): Promise<DocumentIndex> {
  const builder = writing(options, () => new IndexBuilder(path, keep));
  try {
    for (const [position, reading] of readings.entries()) {
      builder.beginSource(reading.files, reading.fields);
      if (reading.sample === undefined) await takeAll(reading, builder);
      else await takeSample(reading, builder, { count: reading.sample, priority: rowPriority(sampleSeed, position) });
    }
    return builder.finish(identity);
  } catch (error) {
    builder.abandon();
    throw isSqlite(error) ? cacheError(options, messageOf(error), error) : error;
  }
}

async function takeAll(reading: Reading, builder: IndexBuilder): Promise<void> {
  for await (const row of readRows(reading, () => true)) builder.offer(row, row.row);
}

/**
 * Takes the `count` acceptable documents of lowest priority. Where the number of rows is known before they are read (Parquet), only
 * the rows that can be among them are: first as many as are needed and some more, then what refused rows left open.
 */
async function takeSample(reading: Reading, builder: IndexBuilder, { count, priority }: { readonly count: number; readonly priority: (row: number) => number }): Promise<void> {
  const rowCounts = await countRows(reading);
  const rows = rowCounts?.reduce((sum, n) => sum + n, 0);
  for (let above = -1, kept = 0; kept < count; ) {
    const most = rows === undefined ? Infinity : lowestPriority(rows, priority, { count: Math.min(rows, Math.ceil((count - kept) * 1.05) + 16), above });
    const wants = (row: number): boolean => {
      const value = priority(row);
      return value > above && value <= Math.min(most, builder.threshold);
    };
    for await (const row of readRows({ ...reading, ...(rowCounts === undefined ? {} : { rowCounts }) }, wants)) {
      builder.offer(row, priority(row.row));
      builder.prune(count);
    }
    kept = builder.prune(count, true);
    if (most === Infinity) return;
    above = most;
  }
}

function writing<T>(options: Pick<IndexOptions, "cacheDirectory">, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw cacheError(options, messageOf(error), error);
  }
}

const isSqlite = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ERR_SQLITE_ERROR";

function cacheError({ cacheDirectory }: Pick<IndexOptions, "cacheDirectory">, finding: string, cause?: unknown): SpadeError {
  return new SpadeError("corpus.cache", `Cannot write the index of the corpus to ${cacheDirectory}: ${finding}. Make the directory writable and free some space (compressed and Parquet sources are copied into the index).`, { details: { cacheDirectory }, cause });
}
