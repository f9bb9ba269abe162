import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import type { CorpusSource } from "../build.ts";
import type { CorpusOptions } from "../corpus.ts";

/** A record of the tests; every container can hold it. */
export interface TestRecord {
  readonly text: string | null;
  readonly id?: string;
}

/** Options of a corpus without limits. */
export function corpusOptions(cacheDirectory: string, changes: Partial<CorpusOptions> = {}): CorpusOptions {
  return { maxWords: 1e9, keep: { minWords: 0, minCharacters: 0 }, sampleSeed: 1, hub: { endpoint: "http://127.0.0.1:9" }, cacheDirectory, ...changes };
}

/** A source with the usual fields. */
export function sourceOf(path: string, changes: Partial<CorpusSource> = {}): CorpusSource {
  return { path, textFields: ["text", "orig_doc"], idField: "id", ...changes };
}

/** Records as JSONL. */
export function jsonl(records: readonly unknown[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

/** How Parquet files of the tests are written. */
export interface ParquetOptions {
  readonly rowGroupSize?: number;
  readonly codec?: "UNCOMPRESSED" | "SNAPPY" | "GZIP" | "ZSTD" | "BROTLI";
  readonly offsetIndex?: boolean;
  readonly pageSize?: number;
}

/** Records as a Parquet file. */
export function parquet(records: readonly TestRecord[], { rowGroupSize = 5, codec = "SNAPPY", offsetIndex = true, pageSize = 256 }: ParquetOptions = {}): Uint8Array {
  const text = { name: "text", data: records.map((record) => record.text), type: "STRING" as const, offsetIndex };
  const id = { name: "id", data: records.map((record) => record.id ?? null), type: "STRING" as const, offsetIndex };
  const compressors = { GZIP: (bytes: Uint8Array) => gzipSync(bytes), ZSTD: (bytes: Uint8Array) => zstdCompressSync(bytes), BROTLI: (bytes: Uint8Array) => brotliCompressSync(bytes) };
  return new Uint8Array(parquetWriteBuffer({ columnData: [text, { name: "number", data: records.map((_, i) => i), type: "INT32" }, id], rowGroupSize, codec, compressors, pageSize }));
}

/** Writes the same records into every container below a folder and returns each container's path. */
export function writeContainers(folder: string, records: readonly TestRecord[]): Readonly<Record<"jsonl" | "gzip" | "gzipMembers" | "zstd" | "parquet" | "shards", string>> {
  const file = (name: string, content: string | Uint8Array): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const middle = Math.floor(records.length / 2);
  const shards = join(folder, "shards");
  mkdirSync(shards, { recursive: true });
  file("shards/a.parquet", parquet(records.slice(0, middle), { codec: "ZSTD" }));
  file("shards/b.parquet", parquet(records.slice(middle), { rowGroupSize: 7, codec: "GZIP", offsetIndex: false }));
  file("shards/README.md", "not a document");
  return {
    jsonl: file("plain.jsonl", jsonl(records)),
    gzip: file("packed.jsonl.gz", gzipSync(jsonl(records))),
    gzipMembers: file("members.jsonl.gz", Buffer.concat([gzipSync(jsonl(records.slice(0, middle))), gzipSync(jsonl(records.slice(middle)))])),
    zstd: file("packed.jsonl.zst", zstdCompressSync(jsonl(records))),
    parquet: file("whole.parquet", parquet(records)),
    shards,
  };
}
