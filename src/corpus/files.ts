import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { SpadeError, messageOf } from "../core/errors.ts";
import type { Location } from "./location.ts";
import { listDataset, openRemote, type Hub } from "./remote.ts";

/** What the contents of a corpus file are. */
export type FileKind = "lines" | "gzip" | "zstd" | "parquet" | "text";

/** Version of a file whose address says it all. */
export const pinnedVersion = "pinned";

/** One file of a corpus. */
export interface CorpusFile {
  /** Path or address. */
  readonly path: string;
  readonly kind: FileKind;
  /** Known of local files only. */
  readonly bytes?: number;
  /** Changes when the contents do: size and time of a local file, size and entity tag of a remote one, or `pinnedVersion`. */
  readonly version: string;
}

/** Whether the file can be read from any place at no cost, so that its documents need not be copied. */
export function isDirect({ kind }: CorpusFile): boolean {
  return kind === "lines" || kind === "text";
}

/** The files of a source, in the order of its documents. @throws corpus.file, corpus.remote, corpus.revision */
export async function listFiles(location: Location, hub: Hub): Promise<readonly CorpusFile[]> {
  if (location.kind === "local") return localFiles(location.path);
  if (location.kind === "dataset") return (await listDataset(location, hub)).map((path) => ({ path, kind: "parquet", version: pinnedVersion }));
  const { url, pinned } = location;
  return [{ path: url, kind: "parquet", version: pinned ? pinnedVersion : (await openRemote(url, hub)).version }];
}

async function localFiles(path: string): Promise<readonly CorpusFile[]> {
  try {
    const stats = await stat(path);
    if (stats.isFile()) return [describe(path, fileKind(path) ?? "lines", stats)];
    const paths = (await readdir(path, { recursive: true, withFileTypes: true })).filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
    return await folderFiles(path, paths);
  } catch (cause) {
    if (cause instanceof SpadeError) throw cause;
    throw new SpadeError("corpus.file", `Cannot read the corpus source ${path}: ${messageOf(cause)}. Check its path in corpus.paths or corpus.sources and its permissions.`, { details: { path }, cause });
  }
}

/** A folder with shards is its shards; any other is a folder of texts. What is hidden does not count. */
async function folderFiles(folder: string, paths: readonly string[]): Promise<readonly CorpusFile[]> {
  const visible = paths.filter((path) => !path.slice(folder.length).split(/[/\\]/).some((part) => part.startsWith("."))).sort();
  const shards = visible.filter((path) => !["text", undefined].includes(fileKind(path)));
  const chosen = shards.length > 0 ? shards : visible;
  if (chosen.length === 0) throw new SpadeError("corpus.file", `The corpus folder ${folder} holds no file. Put text files, JSONL (.jsonl, .gz, .zst) or Parquet files into it, or name another.`, { details: { path: folder } });
  const files: CorpusFile[] = [];
  for (const path of chosen) files.push(describe(path, shards.length > 0 ? (fileKind(path) ?? "lines") : "text", await stat(path)));
  return files;
}

function describe(path: string, kind: FileKind, { size, mtimeMs }: { readonly size: number; readonly mtimeMs: number }): CorpusFile {
  return { path, kind, bytes: size, version: `${size} ${mtimeMs}` };
}

function fileKind(path: string): FileKind | undefined {
  if (/\.(jsonl|ndjson)$/.test(path)) return "lines";
  if (/\.(gz|gzip)$/.test(path)) return "gzip";
  if (/\.(zst|zstd)$/.test(path)) return "zstd";
  if (path.endsWith(".parquet")) return "parquet";
  return /\.(txt|md)$/.test(path) ? "text" : undefined;
}
