import { SpadeError } from "../core/errors.ts";

/** Where the files of a source are. */
export type Location =
  | { readonly kind: "local"; readonly path: string }
  /** A Parquet file; `pinned`: its address holds a commit, so that it never changes. */
  | { readonly kind: "url"; readonly url: string; readonly pinned: boolean }
  /** The Parquet files of a dataset whose paths begin with `prefix`. */
  | { readonly kind: "dataset"; readonly dataset: string; readonly commit: string; readonly prefix: string };

/** Whether a source's path is an address rather than a path of this machine. */
export function isAddress(path: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(path);
}

const datasetAddress = /^hf:\/\/datasets\/([\w.-]+\/[\w.-]+)(?:@([^/]+))?(?:\/(.*))?$/;
const resolvedAddress = /^https?:\/\/.+\/datasets\/([\w.-]+\/[\w.-]+)\/(?:resolve|raw|blob)\/([^/]+)\/(.+)$/;

/** Whether the address says it all: what is there never changes, so the network need not be asked again. */
export function isPinned(location: Location): boolean {
  return location.kind === "dataset" || (location.kind === "url" && location.pinned);
}

/** Reads a source's path. @throws corpus.path, corpus.revision */
export function parseLocation(path: string): Location {
  if (!isAddress(path)) return { kind: "local", path };
  const [, dataset, commit, prefix = ""] = datasetAddress.exec(path) ?? [];
  if (dataset !== undefined) return { kind: "dataset", dataset, commit: pinned(path, dataset, commit), prefix };
  if (!/^https?:\/\//.test(path)) throw wrongPath(path, "expected a local path, hf://datasets/OWNER/NAME@COMMIT/PATH, or an http(s) address of a Parquet file");
  if (!URL.canParse(path) || /^[a-z]+:\/\/[^/]*@/i.test(path)) throw wrongPath(path, "expected an address without user and password");
  const [, resolved, revision] = resolvedAddress.exec(path) ?? [];
  if (resolved !== undefined) pinned(path, resolved, revision);
  if (!new URL(path).pathname.endsWith(".parquet")) throw wrongPath(path, "only Parquet files can be read over HTTP in parts: download any other file and name it here");
  return { kind: "url", url: path, pinned: resolved !== undefined };
}

function pinned(path: string, dataset: string, revision: string | undefined): string {
  if (revision !== undefined && /^[0-9a-f]{40}$/.test(revision)) return revision;
  const found = revision === undefined ? "names no revision" : `names the revision "${revision}", which can move`;
  throw new SpadeError(
    "corpus.revision",
    `The corpus source ${path} ${found}, expected the 40 hexadecimal digits of a commit. Pin the commit: git ls-remote https://huggingface.co/datasets/${dataset} ${revision ?? "main"} prints it.`,
    { details: { path, ...(revision === undefined ? {} : { revision }) } },
  );
}

function wrongPath(path: string, expected: string): SpadeError {
  return new SpadeError("corpus.path", `The corpus source ${path} cannot be read: ${expected}. Correct corpus.paths or corpus.sources.`, { details: { path } });
}
