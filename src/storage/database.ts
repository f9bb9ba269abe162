import { existsSync, linkSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { StatementSync } from "node:sqlite";
import { SpadeError } from "../core/errors.ts";
import { atStorageBoundary, corrupt } from "./errors.ts";
import { schemaSql, schemaVersion } from "./tables.ts";

/** What a run is: stored before iteration 0 and never changed (invariant 11). Holds no secrets. */
export interface RunHeader {
  readonly name: string;
  readonly programVersion: string;
  /** The resolved configuration. */
  readonly config: unknown;
  readonly configDigest: string;
  /** Commit, diff, machine, start time: for people; not part of the record digest. */
  readonly provenance: Readonly<Record<string, unknown>>;
}

/** Path of a run's database. */
export function databasePath(directory: string): string {
  return join(directory, "run.sqlite");
}

/**
 * Makes a run's directory and database; whole or not at all, and never over an existing one. Call under the writer's lock.
 * @throws storage.exists, storage.write
 */
export function createDatabase(directory: string, header: RunHeader): void {
  const path = databasePath(directory);
  const draft = `${path}.draft`;
  refuseExisting(directory);
  atStorageBoundary(path, () => {
    rmSync(draft, { force: true });
    const database = new DatabaseSync(draft);
    try {
      inTransaction(database, () => {
        database.exec(schemaSql());
        database.prepare("INSERT INTO runs (id, schemaVersion, header) VALUES (1, ?, ?)").run(schemaVersion, JSON.stringify(header));
      });
    } finally {
      database.close();
    }
    linkSync(draft, path);
    rmSync(draft);
  });
}

/** @throws storage.exists */
export function refuseExisting(directory: string): void {
  if (!existsSync(databasePath(directory))) return;
  throw new SpadeError("storage.exists", `${directory} already holds a run. Continue it with --resume ${directory}, or choose another directory; nothing was overwritten.`, {
    details: { directory },
  });
}

/** Makes a run's directory and those above it. @throws storage.write */
export function makeRunDirectory(directory: string): void {
  atStorageBoundary(directory, () => makeDirectories(directory));
}

/** Not `mkdir` with `recursive`, which loops for ever where a parent exists but takes no directories (as in /proc). */
function makeDirectories(directory: string): void {
  if (existsSync(directory)) return;
  makeDirectories(dirname(directory));
  mkdirSync(directory);
}

/** @throws storage.missing */
export function requireRun(directory: string): void {
  if (existsSync(databasePath(directory))) return;
  throw new SpadeError("storage.missing", `There is no run in ${directory} (no run.sqlite). Check the path; \`spade runs list\` shows the runs there are.`, {
    details: { directory },
  });
}

/**
 * Opens a run's database after checking that it is whole and of this schema version.
 * @throws storage.missing, storage.corrupt, storage.version, storage.write
 */
export function openDatabase(directory: string, readOnly: boolean): { readonly database: DatabaseSync; readonly header: RunHeader } {
  requireRun(directory);
  const path = databasePath(directory);
  return atStorageBoundary(path, () => {
    const database = new DatabaseSync(path, { readOnly, timeout: 5000 });
    try {
      if (!readOnly) database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
      const header = checkedHeader(path, database);
      return { database, header };
    } catch (error) {
      database.close();
      throw error;
    }
  });
}

function checkedHeader(path: string, database: DatabaseSync): RunHeader {
  const finding = database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
  if (finding !== "ok") throw corrupt(path, String(finding));
  if (database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'runs'").get() === undefined) throw corrupt(path, "it has no table of runs");
  const row = database.prepare("SELECT schemaVersion, header FROM runs").get();
  if (row === undefined) throw corrupt(path, "the row of the run is missing");
  if (row["schemaVersion"] !== schemaVersion) {
    const { programVersion } = JSON.parse(String(row["header"])) as Partial<RunHeader>;
    throw new SpadeError(
      "storage.version",
      `The run ${path} has record version ${String(row["schemaVersion"])} (written by spade-rl ${programVersion ?? "of unknown version"}), but this program reads version ${schemaVersion}. ` +
        `Use the program that made it; nothing was changed.`,
      { details: { path, found: row["schemaVersion"], expected: schemaVersion } },
    );
  }
  return JSON.parse(String(row["header"])) as RunHeader;
}

/** Runs `action` in one transaction; all of it is recorded or none. */
export function inTransaction(database: DatabaseSync, action: () => void): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    action();
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** Prepares each statement once. */
export function statementCache(database: DatabaseSync): (sql: string) => StatementSync {
  const prepared = new Map<string, StatementSync>();
  return (sql) => {
    let statement = prepared.get(sql);
    if (statement === undefined) {
      statement = database.prepare(sql);
      prepared.set(sql, statement);
    }
    return statement;
  };
}
