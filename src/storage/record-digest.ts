import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { columnsOf, tables } from "./tables.ts";
import type { TableName } from "./tables.ts";

/** SHA-256 over all committed rows of a record; see `RunStore.digest`. */
export function recordDigest(database: DatabaseSync, configDigest: string): string {
  const total = createHash("sha256").update(configDigest);
  total.update(rowsDigest(database, "SELECT iteration, policyVersion FROM committed"));
  for (const name of Object.keys(tables) as TableName[]) {
    const columns = columnsOf(name).filter(([, column]) => column.digested);
    const select = columns.map(([column]) => `t."${column}"`).join(", ");
    total.update(`${name}\n`).update(rowsDigest(database, `SELECT c.iteration, ${select} FROM ${name} t JOIN committed c ON c.attempt = t.attempt`));
  }
  return total.digest("hex");
}

/** Digest of a query's rows as a multiset: the order in which concurrent work finished does not count. */
function rowsDigest(database: DatabaseSync, sql: string): string {
  const digests: string[] = [];
  for (const row of database.prepare(sql).iterate()) {
    const hash = createHash("sha256");
    for (const value of Object.values(row)) {
      const bytes = value instanceof Uint8Array ? value : Buffer.from(JSON.stringify(value));
      hash.update(`${value instanceof Uint8Array ? "b" : "j"}${bytes.byteLength}:`).update(bytes);
    }
    digests.push(hash.digest("hex"));
  }
  return createHash("sha256").update(digests.sort().join("\n")).digest("hex");
}
