import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A loopback server of files that answers byte ranges, and of a dataset hub's API. */
export interface RangeServer extends AsyncDisposable {
  readonly origin: string;
  /** Requests so far. */
  readonly seen: readonly { readonly path: string; readonly range: string; readonly authorization: string }[];
  /** Bytes sent as bodies so far. */
  readonly sentBytes: number;
}

/** What a server holds; it may be changed while it runs. */
export interface Served {
  /** By path, which begins with a slash. */
  readonly files: Map<string, Uint8Array>;
  /** JSON answers by path. */
  readonly json?: Map<string, unknown>;
  /** Answers a request in another way; true when it did. */
  readonly intercept?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** Starts a server on loopback. */
export async function serveRanges({ files, json, intercept }: Served): Promise<RangeServer> {
  const seen: { path: string; range: string; authorization: string }[] = [];
  let sentBytes = 0;
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    seen.push({ path, range: request.headers.range ?? "", authorization: request.headers.authorization ?? "" });
    if (intercept?.(request, response) === true) return;
    const answer = json?.get(path);
    if (answer !== undefined) return void response.end(JSON.stringify(answer));
    const content = files.get(path);
    if (content === undefined) return void response.writeHead(404).end("Entry not found");
    const part = answerRange(request, response, content);
    sentBytes += part.length;
    response.end(part);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    seen,
    get sentBytes() {
      return sentBytes;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answerRange(request: IncomingMessage, response: ServerResponse, content: Uint8Array): Uint8Array {
  const [, from = "", to = ""] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
  const [start, end] = [Number(from), Math.min(Number(to) + 1, content.length)];
  if (start >= content.length) {
    response.writeHead(416, { "content-range": `bytes */${content.length}` });
    return new Uint8Array();
  }
  response.writeHead(206, { "content-range": `bytes ${start}-${end - 1}/${content.length}`, etag: `"${content.length}-${content[content.length >> 1] ?? 0}"` });
  return content.subarray(start, end);
}
