import { open } from "node:fs/promises";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { parquetMetadataAsync, parquetReadObjects, parquetSchema, type AsyncBuffer, type Compressors, type FileMetaData, type RowGroup, type SchemaElement } from "hyparquet";
import { SpadeError, messageOf } from "../core/errors.ts";
import { pinnedVersion, type CorpusFile } from "./files.ts";
import { isAddress } from "./location.ts";
import type { Fields } from "./record.ts";
import { openRemote, type Hub } from "./remote.ts";

/** An open Parquet file. */
export interface ParquetFile extends AsyncDisposable {
  readonly rows: number;
  /** Reads the rows that `wants`, in order, a run of neighbouring rows at a time. @throws corpus.row, corpus.remote */
  read(wants: (row: number) => boolean): AsyncGenerator<ParquetRow>;
}

export interface ParquetRow {
  /** Number in the file, from 0. */
  readonly row: number;
  readonly rowGroup: number;
  /** The columns read, by name. */
  readonly value: Readonly<Record<string, unknown>>;
}

/** A run of rows [start, end) of one row group that is read at once. */
interface Run {
  readonly rowGroup: number;
  readonly start: number;
  readonly end: number;
}

/** Wanted rows with fewer rows than this between them are read together: they mostly share pages. */
const maxGap = 64;
/** Rows read at once, where the file says where its pages lie; else a row group is read as a whole. */
const maxRun = 1024;
/** What may be read again with each run. */
const maxUnpagedBytes = 16 * 1024;
/** Runs in flight at once. */
const concurrency = 4;

/** Opens a local or remote Parquet file and checks its columns. @throws corpus.file, corpus.column, corpus.remote */
export async function openParquet({ path, version }: Pick<CorpusFile, "path" | "version">, fields: Fields, hub: Hub): Promise<ParquetFile> {
  const stack = new AsyncDisposableStack();
  try {
    const file = isAddress(path) ? await openRemote(path, hub, version === pinnedVersion ? undefined : version) : await localBuffer(path, stack);
    const metadata = await readMetadata(path, file);
    const columns = columnsOf(path, metadata, fields);
    const owned = stack.move();
    return { rows: Number(metadata.num_rows), read: (wants) => readRuns({ path, file, metadata, columns }, wants), [Symbol.asyncDispose]: () => owned.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

async function localBuffer(path: string, stack: AsyncDisposableStack): Promise<AsyncBuffer> {
  try {
    const handle = await open(path);
    stack.defer(() => handle.close());
    const { size } = await handle.stat();
    const slice = async (start: number, end = size): Promise<ArrayBuffer> => {
      const bytes = new Uint8Array(end - start);
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, start);
      if (bytesRead !== bytes.length) throw new Error(`it ends at byte ${start + bytesRead}, expected ${end}`);
      return bytes.buffer;
    };
    return { byteLength: size, slice };
  } catch (cause) {
    throw new SpadeError("corpus.file", `Cannot open the corpus file ${path}: ${messageOf(cause)}. Check its path and its permissions.`, { details: { path }, cause });
  }
}

async function readMetadata(path: string, file: AsyncBuffer): Promise<FileMetaData> {
  try {
    return await parquetMetadataAsync(file, { initialFetchSize: 64 * 1024, geoparquet: false });
  } catch (cause) {
    if (cause instanceof SpadeError) throw cause;
    throw new SpadeError("corpus.file", `The corpus file ${path} is no whole Parquet file: ${messageOf(cause)}. Fetch or write it again.`, { details: { path }, cause });
  }
}

/** Names of the columns to read: those of the fields that the file has. */
function columnsOf(path: string, metadata: FileMetaData, { textFields, idField }: Fields): readonly string[] {
  const found = new Map(parquetSchema(metadata).children.map(({ element, children }) => [element.name, { element, isLeaf: children.length === 0 }]));
  const texts = textFields.filter((name) => found.has(name));
  if (texts.length === 0) throw columnError(path, `has no column ${textFields.map((name) => `"${name}"`).join(" or ")}, only ${[...found.keys()].join(", ")}`);
  for (const name of texts) {
    const { element, isLeaf } = found.get(name) ?? {};
    if (element === undefined || isLeaf !== true || !isText(element)) throw columnError(path, `has a column "${name}" of type ${typeName(element)}, expected a column of strings`);
  }
  return found.has(idField) ? [...texts, idField] : texts;
}

const isText = ({ type, converted_type: converted, logical_type: logical, repetition_type: repetition }: SchemaElement): boolean =>
  type === "BYTE_ARRAY" && repetition !== "REPEATED" && (converted === undefined || converted === "UTF8") && (logical === undefined || logical.type === "STRING");

const typeName = (element: SchemaElement | undefined): string => element?.logical_type?.type ?? element?.converted_type ?? element?.type ?? "group";

const columnError = (path: string, found: string): SpadeError =>
  new SpadeError("corpus.column", `The corpus file ${path} ${found}. Name the column that holds the text in the source's textFields.`, { details: { path } });

interface OpenFile {
  readonly path: string;
  readonly file: AsyncBuffer;
  readonly metadata: FileMetaData;
  readonly columns: readonly string[];
}

async function* readRuns(open: OpenFile, wants: (row: number) => boolean): AsyncGenerator<ParquetRow> {
  const pending: Promise<{ readonly run: Run; readonly values: readonly Record<string, unknown>[] }>[] = [];
  const start = (run: Run): void => {
    const reading = readRun(open, run).then((values) => ({ run, values }));
    // A failure is thrown when its turn comes; until then it is no unhandled one.
    reading.catch(() => undefined);
    pending.push(reading);
  };
  const runs = runsOf(open, wants);
  for (;;) {
    while (pending.length < concurrency) {
      const next = runs.next();
      if (next.done === true) break;
      start(next.value);
    }
    const first = await pending.shift();
    if (first === undefined) return;
    for (const [i, value] of first.values.entries()) {
      const row = first.run.start + i;
      if (wants(row)) yield { row, rowGroup: first.run.rowGroup, value };
    }
  }
}

function* runsOf({ metadata, columns }: OpenFile, wants: (row: number) => boolean): Generator<Run> {
  let first = 0;
  for (const [rowGroup, group] of metadata.row_groups.entries()) {
    const last = first + Number(group.num_rows);
    const paged = unpagedBytes(group, columns) <= maxUnpagedBytes;
    let run: Run | undefined;
    for (let row = first; row < last; row++) {
      if (!wants(row)) continue;
      if (run !== undefined && paged && (row - run.end >= maxGap || row - run.start >= maxRun)) {
        yield run;
        run = undefined;
      }
      run = { rowGroup, start: run?.start ?? row, end: row + 1 };
    }
    if (run !== undefined) yield run;
    first = last;
  }
}

/** Bytes of the columns that can only be read as a whole: writers leave out the index of a column of one page. */
function unpagedBytes({ columns: chunks }: RowGroup, columns: readonly string[]): number {
  const unpaged = chunks.filter(({ meta_data: meta, offset_index_offset: offset }) => offset === undefined && columns.includes(meta?.path_in_schema[0] ?? ""));
  return unpaged.reduce((sum, { meta_data: meta }) => sum + Number(meta?.total_compressed_size ?? 0), 0);
}

async function readRun({ path, file, metadata, columns }: OpenFile, { rowGroup, start, end }: Run): Promise<readonly Record<string, unknown>[]> {
  try {
    return await parquetReadObjects({ file, metadata, columns: [...columns], rowStart: start, rowEnd: end, compressors, useOffsetIndex: true, geoparquet: false });
  } catch (cause) {
    const remedy = cause instanceof SpadeError ? "" : " The file is damaged or packed in a way that cannot be read here (snappy, gzip, brotli and zstd can): fetch or write it again.";
    const code = cause instanceof SpadeError ? cause.code : "corpus.row";
    throw new SpadeError(code, `Cannot read rows ${start} to ${end - 1} (row group ${rowGroup}) of the corpus file ${path}: ${messageOf(cause)}.${remedy}`.replaceAll("..", "."), { details: { path, rowGroup, start, end }, cause });
  }
}

/** Snappy is part of hyparquet. */
const compressors: Compressors = {
  GZIP: (input) => gunzipSync(input),
  BROTLI: (input) => brotliDecompressSync(input),
  ZSTD: (input) => zstdDecompressSync(input),
};
