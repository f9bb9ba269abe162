import type { DatabaseSync, StatementSync } from "node:sqlite";
import { SpadeError, invariant } from "../core/errors.ts";
import type { SqlValue } from "./columns.ts";
import { createDatabase, databasePath, inTransaction, makeRunDirectory, openDatabase, refuseExisting, requireRun, statementCache } from "./database.ts";
import type { RunHeader } from "./database.ts";
import { atStorageBoundary } from "./errors.ts";
import { IterationWriter } from "./iteration-writer.ts";
import { acquireLock } from "./lock.ts";
import type { WriterLock } from "./lock.ts";
import { recordDigest } from "./record-digest.ts";
import { columnsOf } from "./tables.ts";
import type { Row, TableName } from "./tables.ts";

/** An iteration that is part of the record. */
export interface CommittedIteration {
  readonly iteration: number;
  readonly policyVersion: number;
  readonly timing?: Readonly<Record<string, number>>;
}

/** The append-only record of one run: `<directory>/run.sqlite`. Readers see committed iterations only. Disposing of it closes it. */
export class RunStore implements Disposable {
  readonly directory: string;
  readonly header: RunHeader;
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #lock: WriterLock | undefined;
  readonly #prepare: (sql: string) => StatementSync;
  #newestAttempt = 0;

  private constructor(directory: string, lock: WriterLock | undefined) {
    const { database, header } = openDatabase(directory, lock === undefined);
    this.directory = directory;
    this.header = header;
    this.#path = databasePath(directory);
    this.#database = database;
    this.#lock = lock;
    this.#prepare = statementCache(database);
  }

  /** Starts a run; an existing one is never overwritten. @throws storage.exists, storage.locked, storage.write */
  static create(directory: string, header: RunHeader): RunStore {
    makeRunDirectory(directory);
    refuseExisting(directory);
    return RunStore.#locked(directory, () => createDatabase(directory, header));
  }

  /**
   * Opens a run for writing. With `programVersion`, refuses a run that another version made.
   * @throws storage.missing, storage.locked, storage.corrupt, storage.version, storage.write
   */
  static open(directory: string, expected: { readonly programVersion?: string } = {}): RunStore {
    requireRun(directory);
    const store = RunStore.#locked(directory, () => undefined);
    const { programVersion } = store.header;
    if (expected.programVersion === undefined || expected.programVersion === programVersion) return store;
    store.close();
    throw new SpadeError(
      "storage.version",
      `The run ${directory} was made by spade-rl ${programVersion}, but this is ${expected.programVersion}. Resume it with the version that made it; nothing was changed.`,
      { details: { directory, found: programVersion, expected: expected.programVersion } },
    );
  }

  /** Opens a run for reading, beside its writer. @throws storage.missing, storage.corrupt, storage.version */
  static openReadOnly(directory: string): RunStore {
    return new RunStore(directory, undefined);
  }

  static #locked(directory: string, prepare: () => void): RunStore {
    const lock = acquireLock(directory);
    try {
      prepare();
      return new RunStore(directory, lock);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** Committed iterations in order. */
  iterations(): readonly CommittedIteration[] {
    return this.#prepare("SELECT iteration, policyVersion, timing FROM committed ORDER BY iteration")
      .all()
      .map((row) => ({
        iteration: Number(row["iteration"]),
        policyVersion: Number(row["policyVersion"]),
        ...(row["timing"] === null ? {} : { timing: JSON.parse(String(row["timing"])) as Readonly<Record<string, number>> }),
      }));
  }

  /** Number of the last committed iteration; absent when there is none. */
  lastIteration(): number | undefined {
    const last = this.#prepare("SELECT max(iteration) AS last FROM committed").get()?.["last"];
    return typeof last === "number" ? last : undefined;
  }

  /**
   * Starts an attempt at the next iteration (0 in an empty run); what an earlier, uncommitted attempt left stays invisible.
   * @throws storage.write
   */
  beginIteration(iteration: number): IterationWriter {
    const next = (this.lastIteration() ?? -1) + 1;
    invariant(iteration === next, `iteration ${next} comes next (got ${iteration})`);
    const writer = new IterationWriter({
      path: this.#path,
      database: this.#database,
      prepare: this.#prepare,
      iteration,
      isCurrent: (attempt) => attempt === this.#newestAttempt,
    });
    this.#newestAttempt = writer.attempt;
    return writer;
  }

  /**
   * Supersedes every committed iteration after `iteration` (-1: all), so that they are made again: needed when the newest usable
   * checkpoint is older than the record. Their rows stay in the file. @throws storage.write
   */
  rewind(iteration: number): void {
    atStorageBoundary(this.#path, () =>
      inTransaction(this.#database, () => {
        this.#prepare("INSERT INTO rewinds (iteration, attempt) SELECT ?, coalesce(max(id), 0) FROM attempts").run(iteration);
      }),
    );
    this.#newestAttempt = 0;
  }

  /** Committed rows of a table, of one iteration or all, in order of iteration and then of writing; read one at a time. */
  *rows<Name extends TableName>(name: Name, only: { readonly iteration?: number } = {}): Generator<Row<Name> & { readonly iteration: number }> {
    const columns = columnsOf(name);
    const sql = `SELECT c.iteration AS iteration, ${columns.map(([column]) => `t."${column}" AS "${column}"`).join(", ")} FROM ${name} t JOIN committed c ON c.attempt = t.attempt`;
    const filter = only.iteration === undefined ? "" : " WHERE c.iteration = ?";
    const statement = this.#database.prepare(`${sql}${filter} ORDER BY c.iteration, t.rowid`);
    const found = only.iteration === undefined ? statement.iterate() : statement.iterate(only.iteration);
    for (const stored of found) {
      const row: Record<string, unknown> = { iteration: stored["iteration"] };
      for (const [column, { decode }] of columns) {
        const value = stored[column] as SqlValue;
        if (value !== null) row[column] = decode(value);
      }
      yield row as Row<Name> & { readonly iteration: number };
    }
  }

  /**
   * SHA-256 over configuration digest and all committed rows, whatever the order and attempt in which they were written, timings
   * excluded: equal for an interrupted and resumed run and an uninterrupted one (invariant 12).
   */
  digest(): string {
    return atStorageBoundary(this.#path, () => recordDigest(this.#database, this.header.configDigest));
  }

  /** Closes the database and gives up the writer's lock. */
  close(): void {
    this.#database.close();
    this.#lock?.release();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
