import { SpadeError, messageOf } from "../core/errors.ts";

/** Primary result codes of SQLite that say the environment, not the program, is at fault. */
const sqlite = { perm: 3, busy: 5, readonly: 8, ioerr: 10, corrupt: 11, full: 13, cantopen: 14, constraint: 19, notadb: 26 } as const;
const writeFaults: readonly number[] = [sqlite.perm, sqlite.readonly, sqlite.ioerr, sqlite.full, sqlite.cantopen];
const writeErrnos: readonly unknown[] = ["ENOSPC", "EDQUOT", "EROFS", "ENOENT", "EACCES", "EPERM", "ENOTDIR", "EEXIST", "EFBIG", "EIO", "ENAMETOOLONG", "EMFILE"];

/** Runs `action`; turns faults of disk and database into errors that name `path`. Other errors pass. @throws storage.write, storage.corrupt, storage.busy */
export function atStorageBoundary<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw storageError(path, error);
  }
}

/** The storage error for a caught fault, or the fault itself when it is not storage's. */
export function storageError(path: string, error: unknown): unknown {
  if (error instanceof SpadeError) return error;
  const primary = sqliteCode(error);
  if (primary === sqlite.corrupt || primary === sqlite.notadb) return corrupt(path, messageOf(error), error);
  if (primary === sqlite.busy) {
    return new SpadeError("storage.busy", `${path} is locked by another program. Close what has it open and try again.`, { details: { path }, cause: error });
  }
  if (primary === sqlite.constraint) {
    return new SpadeError("internal.invariant", `Broken invariant in ${path}: ${messageOf(error)}. This is a bug in spade-rl; please report it.`, { cause: error });
  }
  const errno = error instanceof Error && "code" in error ? error.code : undefined;
  if ((primary !== undefined && writeFaults.includes(primary)) || writeErrnos.includes(errno)) {
    return new SpadeError(
      "storage.write",
      `Cannot write to ${path}: ${messageOf(error)}. Everything recorded before is safe; free disk space or make the place writable, then resume.`,
      { details: { path }, cause: error },
    );
  }
  return error;
}

/** The error for a damaged record. */
export function corrupt(path: string, finding: string, cause?: unknown): SpadeError {
  return new SpadeError("storage.corrupt", `The record ${path} is damaged (${finding}). Nothing was changed; restore the file from a copy or start a new run.`, {
    details: { path, finding },
    cause,
  });
}

function sqliteCode(error: unknown): number | undefined {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}
