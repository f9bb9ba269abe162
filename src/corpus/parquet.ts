import { open } from "node:fs/promises";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { parquetMetadataAsync, parquetReadObjects, parquetSchema, readOffsetIndex, type AsyncBuffer, type Compressors, type FileMetaData, type RowGroup, type SchemaElement } from "hyparquet";
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

/** Neighbouring pages are read together up to so many rows. */
const maxRun = 1024;
/** Columns without a page index are read again with each run: only if they are as small as this; else the row group is read as a whole. */
const maxUnpagedBytes = 16 * 1024;
/** Runs in flight at once. */
const concurrency = 4;
/** Reads up to this size are remembered: each run of a row group asks for the same page index. */
const smallBytes = 64 * 1024;
const smallReads = 16;

/** Opens a local or remote Parquet file and checks its columns. @throws corpus.file, corpus.column, corpus.remote */
export async function openParquet({ path, version }: Pick<CorpusFile, "path" | "version">, fields: Fields, hub: Hub): Promise<ParquetFile> {
  const stack = new AsyncDisposableStack();
  try {
    const file = isAddress(path) ? await openRemote(path, hub, version === pinnedVersion ? undefined : version) : await localBuffer(path, stack);
    const metadata = await readMetadata(path, file);
    const columns = columnsOf(path, metadata, fields);
    const open: OpenFile = { path, file: rememberSmall(file), metadata, columns };
    const owned = stack.move();
    return { rows: Number(metadata.num_rows), read: (wants) => readRuns(open, wants), [Symbol.asyncDispose]: () => owned.disposeAsync() };
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

function rememberSmall(file: AsyncBuffer): AsyncBuffer {
  const held = new Map<string, Promise<ArrayBuffer>>();
  const slice = (start: number, end = file.byteLength): Promise<ArrayBuffer> => {
    const read = async (): Promise<ArrayBuffer> => file.slice(start, end);
    if (end - start > smallBytes) return read();
    const name = `${start}-${end}`;
    const found = held.get(name) ?? read();
    held.delete(name);
    held.set(name, found);
    for (const oldest of held.keys()) if (held.size > smallReads) held.delete(oldest);
    return found;
  };
  return { byteLength: file.byteLength, slice };
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
      const next = await runs.next();
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

/** Runs that together hold all wanted rows: pages that hold some, neighbours together; of a row group without pages, all between the first and the last. */
async function* runsOf(open: OpenFile, wants: (row: number) => boolean): AsyncGenerator<Run> {
  let first = 0;
  for (const [rowGroup, group] of open.metadata.row_groups.entries()) {
    const last = first + Number(group.num_rows);
    let run: Run | undefined;
    let pages: readonly number[] | undefined;
    let page = 0;
    for (let row = first; row < last; row++) {
      if (!wants(row)) continue;
      pages ??= (await pageStarts(open, rowGroup)).map((start) => first + start);
      const before = page;
      while ((pages[page + 1] ?? last) <= row) page++;
      if (run !== undefined && page !== before && (page > before + 1 || row - run.start >= maxRun)) {
        yield run;
        run = undefined;
      }
      run = { rowGroup, start: run?.start ?? row, end: row + 1 };
    }
    if (run !== undefined) yield run;
    first = last;
  }
}

/** First rows of the pages of a row group, by the page index of its first text column; none when it has to be read as a whole. */
async function pageStarts({ path, file, metadata, columns }: OpenFile, rowGroup: number): Promise<readonly number[]> {
  const group = metadata.row_groups[rowGroup];
  const chunk = group?.columns.find(({ meta_data: meta }) => meta?.path_in_schema[0] === columns[0]);
  if (group === undefined || chunk?.offset_index_offset === undefined || chunk.offset_index_length === undefined || unpagedBytes(group, columns) > maxUnpagedBytes) return [];
  const start = Number(chunk.offset_index_offset);
  try {
    const bytes = await file.slice(start, start + chunk.offset_index_length);
    return readOffsetIndex({ view: new DataView(bytes), offset: 0 }).page_locations.map(({ first_row_index: row }) => Number(row));
  } catch (cause) {
    throw groupError(path, `the page index of row group ${rowGroup}`, { rowGroup, cause });
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
    throw groupError(path, `rows ${start} to ${end - 1} (row group ${rowGroup})`, { rowGroup, cause });
  }
}

function groupError(path: string, part: string, { rowGroup, cause }: { readonly rowGroup: number; readonly cause: unknown }): SpadeError {
  const [code, remedy] = cause instanceof SpadeError ? ([cause.code, ""] as const) : (["corpus.row", ". The file is damaged or packed in a way that cannot be read here (snappy, gzip, brotli and zstd can): fetch or write it again."] as const);
  return new SpadeError(code, `Cannot read ${part} of the corpus file ${path}: ${messageOf(cause)}${remedy}`, { details: { path, rowGroup }, cause });
}

/** Snappy is part of hyparquet. */
const compressors: Compressors = {
  GZIP: (input) => gunzipSync(input),
  BROTLI: (input) => brotliDecompressSync(input),
  ZSTD: (input) => zstdDecompressSync(input),
};
