import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** A way to a server on which answers get lost. */
export interface LossyProxy extends AsyncDisposable {
  readonly baseUrl: string;
  /** Answers that were lost, by the last part of the path. */
  readonly lost: readonly string[];
}

/** Passes everything on to `target`; the connection breaks after the server has answered the first request to each of `paths` (last part). */
export async function lossyProxy(target: string, paths: readonly string[]): Promise<LossyProxy> {
  const lost: string[] = [];
  const left = new Set(paths);
  const server = createServer((request, response) => {
    void (async () => {
      const at = request.url?.split("/").at(-1) ?? "";
      const body = await readAll(request);
      const answer = await fetch(target + (request.url ?? ""), { method: request.method ?? "GET", headers: { "content-type": request.headers["content-type"] ?? "application/json" }, ...(body.length === 0 ? {} : { body }) });
      const bytes = Buffer.from(await answer.arrayBuffer());
      if (left.delete(at)) {
        lost.push(at);
        request.socket.destroy();
        return;
      }
      response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" }).end(bytes);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const dispose = (): Promise<void> => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  };
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, lost, [Symbol.asyncDispose]: dispose };
}

async function readAll(request: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
