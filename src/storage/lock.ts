import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { SpadeError } from "../core/errors.ts";
import { storageError } from "./errors.ts";

/** Held by the one writer of a run. */
export interface WriterLock {
  release(): void;
}

/**
 * Takes the writer's lock of a run's directory. It is an operating-system lock on `lock.sqlite`, so it ends with its process, however
 * that ends, and can never be stale; `lock.pid` only names the holder for the message.
 * @throws storage.locked, storage.write
 */
export function acquireLock(directory: string): WriterLock {
  const path = join(directory, "lock.sqlite");
  const holder = join(directory, "lock.pid");
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    database.exec("BEGIN EXCLUSIVE");
    writeFileSync(holder, String(process.pid));
  } catch (error) {
    database?.close();
    const translated = storageError(path, error);
    if (!(translated instanceof SpadeError) || translated.code !== "storage.busy") throw translated;
    const pid = existsSync(holder) ? readFileSync(holder, "utf8") : "unknown";
    throw new SpadeError("storage.locked", `The run ${directory} is being written by process ${pid}. Wait for it or stop it, then try again.`, {
      details: { directory, pid },
      cause: error,
    });
  }
  return { release: () => database.close() };
}
