import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Rng } from "../core/seed.ts";
import { HttpClient, type HttpClientOptions, jsonBody } from "./client.ts";
import { type HttpFailure, httpFailure, isRepeatable } from "./failure.ts";
import { Gate } from "./gate.ts";
import { parseJson } from "./json.ts";
import { backoffMs, defaultRetry, retryAfterMs } from "./retry.ts";
import { readSecret, Secret } from "./secret.ts";

type Handler = (request: IncomingMessage, response: ServerResponse, attempt: number) => void;

let stack: AsyncDisposableStack;
beforeEach(() => {
  stack = new AsyncDisposableStack();
});
afterEach(() => stack.disposeAsync());

/** A server on loopback that answers by `handle`, and a client of it that notes its delays. */
async function serve(handle: Handler, options: Partial<HttpClientOptions> = {}): Promise<{ client: HttpClient; delays: number[]; seen: IncomingMessage[] }> {
  const [delays, seen]: [number[], IncomingMessage[]] = [[], []];
  const server = createServer((request, response) => {
    seen.push(request);
    handle(request, response, seen.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stack.defer(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const client = new HttpClient({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`, seed: 1, retry: { baseMs: 1, maxMs: 2, retries: 3 }, onRetry: (_failure, delayMs) => delays.push(delayMs), ...options });
  return { client, delays, seen };
}

const get = { method: "GET", path: "/x" } as const;
const failing = async (promise: Promise<unknown>): Promise<{ code: string; message: string; failure: HttpFailure }> => {
  const error: unknown = await promise.then(() => undefined, (caught: unknown) => caught);
  const failure = httpFailure(error);
  if (failure === undefined) throw new Error(`no HTTP failure: ${inspect(error)}`);
  return { ...(error as { code: string; message: string }), code: (error as { code: string }).code, message: (error as Error).message, failure };
};

describe("HttpClient", () => {
  it("joins base and path, sends JSON, reads JSON", async () => {
    const { client, seen } = await serve((request, response) => void request.pipe(response));
    expect(await client.json({ method: "POST", path: "/x", body: jsonBody({ a: 1 }) })).toEqual({ a: 1 });
    expect(seen[0]).toMatchObject({ url: "/base/x", headers: { "content-type": "application/json" } });
  });

  it("repeats what may help, waits as the server asks, and counts attempts", async () => {
    const { client, delays } = await serve((_request, response, attempt) => {
      if (attempt === 1) response.writeHead(429, { "retry-after-ms": "7" }).end();
      else if (attempt === 2) response.writeHead(503).end();
      else if (attempt === 3) response.destroy();
      else response.end("{}");
    });
    expect((await client.send(get)).attempts).toBe(4);
    expect(delays[0]).toBe(7);
    expect(delays).toHaveLength(3);
  });

  it("gives up after the retries, and when the server asks for more patience than there is", async () => {
    const { client, seen } = await serve((_request, response) => void response.writeHead(500).end('{"detail":"no luck"}'));
    const { code, message, failure } = await failing(client.send(get));
    expect([code, failure.status, failure.attempts, seen.length]).toEqual(["http.status", 500, 4, 4]);
    expect(message).toContain("no luck");
    const slow = await serve((_request, response) => void response.writeHead(429, { "retry-after": "30" }).end(), { retry: { patienceMs: 1000 } });
    expect((await failing(slow.client.send(get))).failure.attempts).toBe(1);
  });

  it("never repeats what may have been carried out when told not to", async () => {
    const { client, seen } = await serve((_request, response) => response.destroy());
    expect((await failing(client.send({ ...get, repeat: "unaccepted" }))).failure).toMatchObject({ kind: "connection", attempts: 1 });
    expect(seen).toHaveLength(1);
  });

  it("tells a server that is not there from one that closes", async () => {
    const { client } = await serve(() => undefined);
    await stack.disposeAsync();
    const { code, message } = await failing(client.send(get));
    expect(code).toBe("http.refused");
    expect(message).toContain("ECONNREFUSED");
  });

  it("limits time, also while the body arrives, and size", async () => {
    const silent = await serve(() => undefined, { timeoutMs: 20 });
    expect((await failing(silent.client.send({ ...get, repeat: "never" }))).code).toBe("http.timeout");
    const stuck = await serve((_request, response) => void response.write("{"), { timeoutMs: 20 });
    expect((await failing(stuck.client.send({ ...get, repeat: "never" }))).code).toBe("http.timeout");
    const long = await serve((_request, response) => void response.end("x".repeat(100)), { maxResponseBytes: 99 });
    expect((await failing(long.client.send(get))).code).toBe("http.format");
  });

  it("stops when aborted, while it sends and while it waits", async () => {
    const silent = await serve(() => undefined);
    expect((await failing(silent.client.send({ ...get, signal: AbortSignal.timeout(10) }))).code).toBe("http.aborted");
    const controller = new AbortController();
    const waiting = await serve((_request, response) => void response.writeHead(429, { "retry-after": "50" }).end(), { onRetry: () => controller.abort() });
    expect((await failing(waiting.client.send({ ...get, signal: controller.signal }))).code).toBe("http.aborted");
  });

  it("follows no redirect", async () => {
    const { client, seen } = await serve((_request, response) => void response.writeHead(307, { location: "/elsewhere" }).end());
    expect((await failing(client.send(get))).message).toContain("final base URL");
    expect(seen).toHaveLength(1);
  });

  it("names what is no JSON", async () => {
    const { client } = await serve((_request, response) => void response.end("<html>a page</html>"));
    const { code, message } = await failing(client.json(get));
    expect(code).toBe("http.format");
    expect(message).toContain("a page");
  });
});

describe("Secret", () => {
  it("is sent, and shown nowhere: not printed, not serialised, not in an error, even when the server repeats it", async () => {
    const secret = readSecret("THE_KEY", () => " tml-hush ");
    const { client, seen } = await serve((request, response) => void response.writeHead(401).end(`bad key ${request.headers.authorization ?? ""}`), { credential: { secret, form: "bearer" } });
    const error: unknown = await client.send(get).catch((caught: unknown) => caught);
    expect(seen[0]?.headers.authorization).toBe("Bearer tml-hush");
    expect((error as Error).message).toContain("THE_KEY");
    for (const text of [inspect(error, { depth: 9 }), JSON.stringify(error), (error as Error).stack, String(secret), JSON.stringify({ secret }), inspect({ secret }), inspect(client, { depth: 9 })]) expect(text).not.toContain("tml-hush");
  });

  it("is refused when unset or unusable", () => {
    for (const value of [undefined, "", "  ", "a\nb", "ключ"]) expect(() => readSecret("THE_KEY", () => value)).toThrow(/THE_KEY/);
    expect(new Secret("N", "v").reveal()).toBe("v");
  });
});

describe("retries", () => {
  it("back off exponentially, jittered by the seed, up to the limit", () => {
    const delays = (seed: number): number[] => Array.from({ length: 8 }, (_, i) => backoffMs(i, defaultRetry, new Rng(seed + i)));
    expect(delays(1)).toEqual(delays(1));
    expect(delays(1)).not.toEqual(delays(2));
    delays(1).forEach((delay, i) => {
      const whole = Math.min(10_000, 500 * 2 ** i);
      expect(delay).toBeGreaterThanOrEqual(0.75 * whole);
      expect(delay).toBeLessThanOrEqual(whole);
    });
  });

  it.each<readonly [Record<string, string>, number | undefined]>([
    [{ "retry-after": "2" }, 2000],
    [{ "retry-after": "0" }, 0],
    [{ "retry-after-ms": "15", "retry-after": "2" }, 15],
    [{ "retry-after": "Mon, 30 Nov 2026 10:00:05 GMT", date: "Mon, 30 Nov 2026 10:00:00 GMT" }, 5000],
    [{ "retry-after": "Mon, 30 Nov 2026 10:00:05 GMT" }, undefined],
    [{ "retry-after": "-3" }, undefined],
    [{ "retry-after": "soon" }, undefined],
    [{}, undefined],
  ])("%o asks for %s ms", (headers, expected) => {
    expect(retryAfterMs(new Headers(headers))).toBe(expected);
  });

  it("obey the server's word, but never when the request may have been carried out and must not be twice", () => {
    const failure = (status: number, shouldRetry?: boolean): HttpFailure => ({ kind: "status", url: "", attempts: 1, status, ...(shouldRetry === undefined ? {} : { shouldRetry }) });
    expect([400, 401, 404, 409, 422].map((status) => isRepeatable(failure(status), "always"))).toEqual([false, false, false, false, false]);
    expect([408, 425, 429, 500, 529].map((status) => isRepeatable(failure(status), "always"))).toEqual([true, true, true, true, true]);
    expect([408, 425, 429, 500, 529].map((status) => isRepeatable(failure(status), "unaccepted"))).toEqual([false, true, true, false, false]);
    expect([isRepeatable(failure(500, false), "always"), isRepeatable(failure(400, true), "always"), isRepeatable(failure(500, true), "unaccepted")]).toEqual([false, true, false]);
  });
});

describe("parseJson", () => {
  it("reads bare NaN and Infinity as null, outside of texts only", () => {
    expect(parseJson('{"a":[NaN,-Infinity,1],"b":"NaN \\" Infinity"}')).toEqual({ a: [null, null, 1], b: 'NaN " Infinity' });
    expect(() => parseJson("{NaN")).toThrow(SyntaxError);
  });
});

describe("Gate", () => {
  it("lets as many run as it should, slows down and recovers", async () => {
    const gate = new Gate(4);
    let [running, most] = [0, 0];
    const task = async (): Promise<void> => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running -= 1;
    };
    await Promise.all(Array.from({ length: 20 }, () => gate.run(task)));
    expect(most).toBe(4);
    gate.slowDown();
    expect(gate.limit).toBe(1);
    most = 0;
    await Promise.all(Array.from({ length: 5 }, () => gate.run(task)));
    expect(most).toBe(1);
    for (let i = 0; i < 9; i++) gate.speedUp();
    expect(gate.limit).toBe(4);
  });

  it("does not start what was aborted while it waited, and goes on with the rest", async () => {
    const gate = new Gate(1);
    const controller = new AbortController();
    const started: number[] = [];
    const task = (n: number) => async (): Promise<void> => {
      started.push(n);
      await new Promise(setImmediate);
    };
    const all = [gate.run(task(1)), gate.run(task(2), controller.signal), gate.run(task(3))];
    controller.abort();
    expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(started).toEqual([1, 3]);
  });
});
