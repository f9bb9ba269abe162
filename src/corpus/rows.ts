import { readFile } from "node:fs/promises";
import { SpadeError, messageOf } from "../core/errors.ts";
import { Gate } from "../http/gate.ts";
import type { CorpusFile } from "./files.ts";
import { readLines } from "./lines.ts";
import { openParquet } from "./parquet.ts";
import { entryOf, parseLine, textEntry, type Entry, type Fields, type Place } from "./record.ts";
import type { Hub } from "./remote.ts";

/** One row of a source. */
export interface Row {
  /** Number in the source, from 0. */
  readonly row: number;
  /** Position of its file among the source's files. */
  readonly file: number;
  readonly place: Place;
  /** Bytes of the file it takes; meaningless when there is a `record`. */
  readonly start: number;
  readonly bytes: number;
  readonly entry: Entry;
  /** The record as a line of JSONL, where the file cannot be read again from any place. */
  readonly record?: Uint8Array;
}

/** How the rows of a source are read. */
export interface Reading {
  readonly files: readonly CorpusFile[];
  readonly fields: Fields;
  readonly hub: Hub;
  /** Rows of each file, where known: files without wanted rows are then not opened. */
  readonly rowCounts?: readonly number[];
}

/** Files whose rows are counted at once. */
const concurrency = 8;

/** Which rows, by their number in the source, are needed; asked for each row, in order. */
export type Wants = (row: number) => boolean;

/** Yields the wanted rows of a source in order. Of a Parquet file no more than the pages (else the row groups) with wanted rows are read. @throws corpus.* */
export async function* readRows(reading: Reading, wants: Wants): AsyncGenerator<Row> {
  let first = 0;
  for (const [file, { path, kind, version }] of reading.files.entries()) {
    const at = { file, path, version, first, wants };
    const known = reading.rowCounts?.[file];
    if (known !== undefined && !isAnyWanted(at, known)) first += known;
    else if (kind === "parquet") first += yield* parquetRows(reading, at);
    else if (kind === "text") first += yield* textRow(at);
    else first += yield* lineRows(reading, { ...at, packing: kind === "lines" ? "plain" : kind });
  }
}

function isAnyWanted({ first, wants }: FileAt, rows: number): boolean {
  for (let row = first; row < first + rows; row++) if (wants(row)) return true;
  return false;
}

/** Rows of each file of a source, where the files tell it without being read; else undefined. @throws corpus.* */
export async function countRows({ files, fields, hub }: Reading): Promise<readonly number[] | undefined> {
  if (files.some(({ kind }) => kind !== "parquet")) return undefined;
  const gate = new Gate(concurrency);
  const count = async (file: CorpusFile): Promise<number> => {
    await using parquet = await openParquet(file, fields, hub);
    return parquet.rows;
  };
  return Promise.all(files.map((file) => gate.run(() => count(file))));
}

/** One file at its place in the source; `first` is the number of its first row. */
interface FileAt {
  readonly file: number;
  readonly path: string;
  readonly version: string;
  readonly first: number;
  readonly wants: Wants;
}

async function* lineRows({ fields }: Reading, { file, path, first, wants, packing }: FileAt & { readonly packing: "plain" | "gzip" | "zstd" }): AsyncGenerator<Row, number> {
  let count = 0;
  for await (const { number, start, bytes, content } of readLines(path, packing)) {
    const row = first + count++;
    if (!wants(row)) continue;
    const place = { path, line: number };
    yield { row, file, place, start, bytes, entry: parseLine(content, fields, place), ...(packing === "plain" ? {} : { record: content }) };
  }
  return count;
}

async function* textRow({ file, path, first, wants }: FileAt): AsyncGenerator<Row, number> {
  if (!wants(first)) return 1;
  const content = await readText(path);
  yield { row: first, file, place: { path }, start: 0, bytes: content.length, entry: textEntry(content, { path }) };
  return 1;
}

async function readText(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw new SpadeError("corpus.file", `Cannot read the corpus file ${path}: ${messageOf(cause)}. Check its permissions.`, { details: { path }, cause });
  }
}

async function* parquetRows({ fields, hub }: Reading, { file, path, version, first, wants }: FileAt): AsyncGenerator<Row, number> {
  await using parquet = await openParquet({ path, version }, fields, hub);
  for await (const { row, rowGroup, value } of parquet.read((number) => wants(first + number))) {
    const place = { path, row, rowGroup };
    const entry = entryOf(value, fields, place);
    const { id, text } = entry;
    const record = Buffer.from(JSON.stringify({ ...(id === undefined ? {} : { [fields.idField]: id }), [fields.textFields[0] ?? "text"]: text }));
    yield { row: first + row, file, place, start: 0, bytes: record.length, entry, record };
  }
  return parquet.rows;
}
