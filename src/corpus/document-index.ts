import { createHash } from "node:crypto";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { sha256 } from "../core/digest.ts";
import { SpadeError, invariant, messageOf } from "../core/errors.ts";
import type { CorpusFile } from "./files.ts";
import { isWithin, lengthOf, noText, recordError, type Fields, type LengthLimits, type Place } from "./record.ts";
import type { Row } from "./rows.ts";
import { maxRows } from "./sampling.ts";

/** What became of the rows that were looked at. */
export interface Counts {
  readonly rows: number;
  readonly documents: number;
  /** Rows whose text another row has, too. */
  readonly duplicates: number;
  /** Rows outside the length limits. */
  readonly outsideLimits: number;
}

/** What an index says of itself; `key` and `version` tell of which corpus, in which state, it is. */
export interface IndexHeader {
  readonly key: string;
  readonly version: string;
  /** SHA-256 over the digests of the documents' texts, in order. */
  readonly digest: string;
  readonly counts: Counts;
}

/** One document as the index knows it. */
export interface IndexedDocument {
  readonly path: string;
  readonly kind: CorpusFile["kind"];
  /** Line, or row of a Parquet file, or 0. */
  readonly number: number;
  readonly rowGroup: number;
  readonly start: number;
  readonly bytes: number;
  readonly hash: string;
  /** Position of its source. */
  readonly source: number;
  /** A line of JSONL, unless the document is read from its file. */
  readonly record: Uint8Array | null;
}

/** Smallest, middle and largest of the documents' lengths. */
export interface LengthSummary {
  readonly words: readonly [number, number, number];
  readonly characters: readonly [number, number, number];
}

/**
 * `key` orders the documents: the source's position, then the row's priority in it. Of equal texts the lowest key stays, so that
 * neither the order of reading nor the container decides which documents there are.
 */
const tables = `
  CREATE TABLE header (value TEXT NOT NULL);
  CREATE TABLE files (file INTEGER PRIMARY KEY, path TEXT NOT NULL, kind TEXT NOT NULL);
  CREATE TABLE documents (
    key INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, id TEXT, file INTEGER NOT NULL, number INTEGER NOT NULL, rowGroup INTEGER NOT NULL,
    start INTEGER NOT NULL, bytes INTEGER NOT NULL, words INTEGER NOT NULL, characters INTEGER NOT NULL, record BLOB
  );
  CREATE TABLE positions (position INTEGER PRIMARY KEY, key INTEGER NOT NULL);
`;

const insertion = `
  INSERT INTO documents VALUES (:key, :hash, :id, :file, :number, :rowGroup, :start, :bytes, :words, :characters, :record)
  ON CONFLICT (hash) DO UPDATE SET key = excluded.key, id = excluded.id, file = excluded.file, number = excluded.number, rowGroup = excluded.rowGroup,
    start = excluded.start, bytes = excluded.bytes, words = excluded.words, characters = excluded.characters, record = excluded.record
  WHERE excluded.key < documents.key
`;

/** Fills a new index, source after source. Memory does not grow with the documents: SQLite keeps a fixed cache. */
export class IndexBuilder {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #limits: LengthLimits;
  readonly #sources: { readonly firstFile: number }[] = [];
  #fields: Pick<Fields, "textFields"> = { textFields: [] };
  #files = 0;
  #rows = 0;
  #offered = 0;
  #pruned = 0;
  #sincePrune = 0;
  #lowest = Infinity;

  /** `path`: a file that does not exist, or `:memory:`. */
  constructor(path: string, limits: LengthLimits) {
    this.#limits = limits;
    this.#database = new DatabaseSync(path);
    // Nothing of a half-written index is ever used, so it needs no journal: it gets its name when it is whole.
    this.#database.exec(`PRAGMA journal_mode = OFF; PRAGMA cache_size = -32768; PRAGMA page_size = 8192; BEGIN; ${tables}`);
    this.#insert = this.#database.prepare(insertion);
  }

  /** Begins the next source. */
  beginSource(files: readonly CorpusFile[], fields: Pick<Fields, "textFields">): void {
    this.#sources.push({ firstFile: this.#files });
    this.#lowest = Infinity;
    this.#sincePrune = 0;
    const insert = this.#database.prepare("INSERT INTO files VALUES (?, ?, ?)");
    for (const { path, kind } of files) insert.run(this.#files++, path, kind);
    this.#fields = fields;
  }

  /** Rows of the current source with a priority above this cannot be among its documents any more. */
  get threshold(): number {
    return this.#lowest;
  }

  /** Adds a row of the current source, unless its length is outside the limits or a row of lower key has its text. @throws corpus.line, corpus.row, corpus.file */
  offer({ entry, place, file, start, bytes, record }: Row, priority: number): void {
    this.#rows += 1;
    const length = lengthOf(entry.text);
    if (length.words === 0 && this.#limits.minWords === 0) throw recordError(place, `${place.line === undefined && place.row === undefined ? "it has no words" : noText(this.#fields.textFields)} (or set corpus.keep.minWords to pass over such documents)`);
    if (!isWithin(length, this.#limits)) return;
    invariant(priority < maxRows && this.#sources.length <= 4096, "a corpus has at most 4096 sources of 2^40 rows");
    this.#offered += 1;
    const { changes } = this.#insert.run({
      key: this.#base + priority,
      hash: Buffer.from(textHash(entry.text), "hex"),
      id: entry.id ?? null,
      file: file + (this.#sources.at(-1)?.firstFile ?? 0),
      number: place.line ?? place.row ?? 0,
      rowGroup: place.rowGroup ?? 0,
      start,
      bytes,
      ...length,
      record: record ?? null,
    });
    this.#sincePrune += Number(changes);
  }

  /** Keeps no more than the `count` documents of lowest priority of the current source; returns how many there are. Cheap when called after each row. */
  prune(count: number, now = false): number {
    if (!now && this.#sincePrune < count + 1024) return count;
    this.#sincePrune = 0;
    const last = this.#database.prepare("SELECT key FROM documents WHERE key >= ? ORDER BY key LIMIT 1 OFFSET ?").get(this.#base, count - 1) as { readonly key: number } | undefined;
    if (last === undefined) return this.#count("WHERE key >= ?", this.#base);
    this.#pruned += Number(this.#database.prepare("DELETE FROM documents WHERE key > ?").run(last.key).changes);
    this.#lowest = last.key - this.#base;
    return count;
  }

  get #base(): number {
    return (this.#sources.length - 1) * maxRows;
  }

  #count(where: string, ...values: readonly number[]): number {
    return (this.#database.prepare(`SELECT count(*) AS n FROM documents ${where}`).get(...values) as { readonly n: number }).n;
  }

  /** Numbers the documents, writes the header and gives the index away. @throws corpus.line, corpus.row when an id occurs twice */
  finish(identity: Pick<IndexHeader, "key" | "version">): DocumentIndex {
    this.#refuseEqualIds();
    const digest = createHash("sha256");
    for (const { hash } of this.#database.prepare("SELECT hash FROM documents ORDER BY key").iterate() as Iterable<{ readonly hash: Uint8Array }>) digest.update(hash);
    this.#database.exec("INSERT INTO positions SELECT row_number() OVER (ORDER BY key) - 1, key FROM documents");
    const documents = this.#count("");
    const counts: Counts = { rows: this.#rows, documents, duplicates: this.#offered - documents - this.#pruned, outsideLimits: this.#rows - this.#offered };
    this.#database.prepare("INSERT INTO header VALUES (?)").run(JSON.stringify({ ...identity, digest: digest.digest("hex"), counts } satisfies IndexHeader));
    this.#database.exec("COMMIT");
    return new DocumentIndex(this.#database);
  }

  #refuseEqualIds(): void {
    const twice = this.#database.prepare("SELECT id, max(key) AS key FROM documents WHERE id IS NOT NULL GROUP BY id HAVING count(*) > 1 LIMIT 1").get() as { readonly id: string; readonly key: number } | undefined;
    if (twice === undefined) return;
    const found = readDocument(this.#database, "key = ?", twice.key);
    throw recordError(placeOf(found), `its id (${twice.id}) occurs twice in the corpus, with different texts (idField "" names documents by their text instead)`);
  }

  /** Drops the index. */
  abandon(): void {
    this.#database.close();
  }
}

/** A whole index, open for reading. */
export class DocumentIndex {
  readonly header: IndexHeader;
  readonly #database: DatabaseSync;
  readonly #select: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#select = database.prepare(selection("key = (SELECT key FROM positions WHERE position = ?)"));
    this.header = JSON.parse((database.prepare("SELECT value FROM header").get() as { readonly value: string }).value) as IndexHeader;
  }

  /** Opens the index in a file when it is of this corpus in this state; else there is none. */
  static open(path: string, { key, version }: Pick<IndexHeader, "key" | "version">): DocumentIndex | undefined {
    let database: DatabaseSync | undefined;
    try {
      database = new DatabaseSync(path, { readOnly: true });
      const index = new DocumentIndex(database);
      if (index.header.key === key && index.header.version === version) return index;
    } catch {
      // Absent or damaged: the same as none.
    }
    database?.close();
    return undefined;
  }

  /** The document at a position in [0, documents). @throws corpus.cache when the index is damaged */
  at(position: number): IndexedDocument {
    const { documents } = this.header.counts;
    invariant(position >= 0 && position < documents, `a corpus position lies in [0, ${documents}) (got ${position})`);
    try {
      const found = this.#select.get(position) as IndexedDocument | undefined;
      if (found !== undefined) return found;
    } catch (cause) {
      throw this.#damaged(messageOf(cause), cause);
    }
    throw this.#damaged(`it lacks document ${position} of ${documents}`);
  }

  #damaged(finding: string, cause?: unknown): SpadeError {
    const path = this.#database.location() ?? "in memory";
    return new SpadeError("corpus.cache", `The index of the corpus, ${path}, is damaged: ${finding}. Delete that file and start again; it is made anew.`, { details: { path }, cause });
  }

  /** Smallest, middle and largest lengths. */
  lengths(): LengthSummary {
    const middle = Math.floor((this.header.counts.documents - 1) / 2);
    const summary = (column: "words" | "characters"): [number, number, number] => {
      const nth = (order: string, offset: number): number => (this.#database.prepare(`SELECT ${column} AS n FROM documents ORDER BY ${column} ${order} LIMIT 1 OFFSET ?`).get(offset) as { readonly n: number }).n;
      return [nth("ASC", 0), nth("ASC", middle), nth("DESC", 0)];
    };
    return { words: summary("words"), characters: summary("characters") };
  }

  close(): void {
    this.#database.close();
  }
}

const selection = (where: string): string =>
  `SELECT path, kind, number, rowGroup, start, bytes, lower(hex(hash)) AS hash, key / ${maxRows} AS source, record FROM documents JOIN files USING (file) WHERE ${where}`;

function readDocument(database: DatabaseSync, where: string, value: number): IndexedDocument {
  return database.prepare(selection(where)).get(value) as unknown as IndexedDocument;
}

/** Where an indexed document lies. */
export function placeOf({ path, kind, number, rowGroup }: IndexedDocument): Place {
  if (kind === "text") return { path };
  return kind === "parquet" ? { path, row: number, rowGroup } : { path, line: number };
}

/** What equal texts have in common: half of the SHA-256. */
export function textHash(text: string): string {
  return sha256(text).slice(0, 32);
}
