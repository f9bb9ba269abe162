import { z } from "zod";
import { SpadeError, messageOf } from "../core/errors.ts";
import { HttpClient, type HttpRequest, type HttpResponse } from "../http/client.ts";
import { httpFailure } from "../http/failure.ts";
import type { Secret } from "../http/secret.ts";

/** How remote files are reached. */
export interface Hub {
  /** Where datasets are; a mirror speaks the same API. */
  readonly endpoint: string;
  /** Sent to the endpoint only. */
  readonly apiKey?: Secret;
}

/** A remote file that answers byte ranges. */
export interface RemoteFile {
  readonly byteLength: number;
  /** Size and entity tag. */
  readonly version: string;
  /** Bytes from `start` up to `end`, which is excluded. @throws corpus.remote, corpus.changed */
  slice(start: number, end?: number): Promise<ArrayBuffer>;
}

/** Of one range, up to its last byte: a row group can be large. */
const timeoutMs = 600_000;
/** What an error may say. */
const errorPageBytes = 2 ** 20;

const datasetSchema = z.looseObject({ siblings: z.array(z.looseObject({ rfilename: z.string() })) });

/** Addresses of a dataset's Parquet files whose paths begin with `prefix`, sorted. @throws corpus.remote */
export async function listDataset({ dataset, commit, prefix }: { readonly dataset: string; readonly commit: string; readonly prefix: string }, hub: Hub): Promise<readonly string[]> {
  const endpoint = hub.endpoint.replace(/\/+$/, "");
  const url = `${endpoint}/api/datasets/${dataset}/revision/${commit}`;
  const answer = datasetSchema.safeParse(await readJson(url, hub));
  if (!answer.success) throw new SpadeError("corpus.remote", `${url} answered no list of files ("siblings"). Check corpus.huggingFace.endpoint.`, { details: { url } });
  const paths = answer.data.siblings.map(({ rfilename }) => rfilename).filter((path) => path.startsWith(prefix) && path.endsWith(".parquet"));
  if (paths.length === 0) {
    const others = answer.data.siblings.slice(0, 5).map(({ rfilename }) => rfilename);
    throw new SpadeError("corpus.remote", `The dataset ${dataset} at ${commit} has no Parquet file that begins with "${prefix}"; it has ${others.join(", ") || "no files"}. Correct the path after the commit.`, { details: { url, prefix } });
  }
  return paths.sort().map((path) => `${endpoint}/datasets/${dataset}/resolve/${commit}/${path.split("/").map(encodeURIComponent).join("/")}`);
}

async function readJson(url: string, hub: Hub): Promise<unknown> {
  const { client, path } = clientFor(url, hub);
  const request: HttpRequest = { method: "GET", path };
  try {
    return await client.json(request);
  } catch (cause) {
    throw remoteError(url, cause);
  }
}

/** Asks for the first bytes of a remote file: its size, and whether it answers ranges; `version`: what it must be. @throws corpus.remote, corpus.changed */
export async function openRemote(url: string, hub: Hub, version?: string): Promise<RemoteFile> {
  const { client, path } = clientFor(url, hub);
  const { size, tag } = await range({ url, client, path }, 0, 4);
  const found = `${size} ${tag}`;
  if (version !== undefined && version !== found) throw changed(url, `its size and tag were ${version}, and are now ${found}`);
  return {
    byteLength: size,
    version: found,
    slice: async (start, end = size) => {
      if (end <= start) return new ArrayBuffer(0);
      const part = await range({ url, client, path }, start, end);
      if (part.size !== size || part.tag !== tag) throw changed(url, `its size and tag were ${found}, and are now ${part.size} ${part.tag}`);
      return part.bytes;
    },
  };
}

interface Target {
  readonly url: string;
  readonly client: HttpClient;
  readonly path: string;
}

async function range({ url, client, path }: Target, start: number, end: number): Promise<{ readonly bytes: ArrayBuffer; readonly size: number; readonly tag: string }> {
  const headers = { range: `bytes=${start}-${end - 1}`, accept: "*/*", "accept-encoding": "identity" };
  const response = await client.send({ method: "GET", path, headers, timeoutMs, maxResponseBytes: Math.max(end - start, errorPageBytes) }).catch((cause: unknown) => {
    throw httpFailure(cause)?.kind === "format" ? noRanges(url, `it answered more than the ${end - start} bytes asked for`) : remoteError(url, cause, start);
  });
  const [, size] = /^bytes \d+-\d+\/(\d+)$/.exec(response.headers.get("content-range") ?? "") ?? [];
  if (response.status !== 206 || size === undefined) throw noRanges(url, `it answered status ${response.status} with the range "${response.headers.get("content-range") ?? ""}"`);
  const wanted = Math.min(end, Number(size)) - start;
  if (response.bytes.length !== wanted) throw changed(url, `it answered ${response.bytes.length} of ${wanted} bytes from ${start} on`);
  return { bytes: bufferOf(response), size: Number(size), tag: response.headers.get("etag") ?? "" };
}

function bufferOf({ bytes }: HttpResponse): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

function clientFor(url: string, { endpoint, apiKey }: Hub): { readonly client: HttpClient; readonly path: string } {
  const { origin, pathname, search } = new URL(url);
  const own = origin === new URL(endpoint).origin;
  const credential = own && apiKey !== undefined ? { credential: { secret: apiKey, form: "bearer" as const } } : {};
  return { client: new HttpClient({ baseUrl: origin, seed: 1, followRedirects: true, ...credential }), path: pathname + search };
}

const noRanges = (url: string, found: string): SpadeError =>
  new SpadeError("corpus.remote", `The server of ${url} does not answer byte ranges: ${found}, expected status 206. Download the file and name its path instead.`, { details: { url } });

const changed = (url: string, found: string): SpadeError =>
  new SpadeError("corpus.changed", `The remote corpus file ${url} changed while it was read: ${found}. Start again; to be safe from changes, name a dataset by commit or download the file.`, { details: { url } });

function remoteError(url: string, cause: unknown, start = 0): SpadeError {
  const status = httpFailure(cause)?.status;
  const details = { url, ...(status === undefined ? {} : { status }) };
  if (status === 404) return new SpadeError("corpus.remote", `There is no ${url} (status 404). Check the dataset's name, the commit and the path${url.includes("/datasets/") ? "; a dataset that asks for a login may answer so, too: set corpus.huggingFace.apiKeyEnv" : ""}.`, { details, cause });
  if (status === 416) return start === 0 ? new SpadeError("corpus.remote", `The remote corpus file ${url} is empty (status 416). Name another.`, { details, cause }) : changed(url, `it has no byte ${start} any more (status 416)`);
  if (status === 401 || status === 403) return new SpadeError("corpus.remote", `The server refuses ${url} (status ${status}). Accept the dataset's terms on its page, and name the environment variable that holds your token in corpus.huggingFace.apiKeyEnv.`, { details, cause });
  return new SpadeError("corpus.remote", `Cannot read the remote corpus file ${url}: ${messageOf(cause)}`, { details, cause });
}
