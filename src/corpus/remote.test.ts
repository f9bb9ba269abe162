import { spawn } from "node:child_process";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { Secret } from "../http/secret.ts";
import { openCorpus } from "./corpus.ts";
import { corpusOptions, jsonl, parquet, sourceOf, type TestRecord } from "./testing/containers.ts";
import { serveRanges, type Served } from "./testing/range-server.ts";

const root = mkdtempSync(join(tmpdir(), "spade-remote-"));
afterAll(() => rmSync(root, { recursive: true }));
const cache = (): string => mkdtempSync(join(root, "cache-"));

const commit = "0123456789abcdef0123456789abcdef01234567";
const rows: readonly TestRecord[] = Array.from({ length: 120 }, (_, i) => ({ text: `document ${i} ${"with some words ".repeat(40)}` }));
const resolved = (path: string): string => `/datasets/owner/name/resolve/${commit}/${path}`;

/** A dataset of two shards, and what its hub says of it. */
function dataset(): { readonly files: Map<string, Uint8Array>; readonly json: Map<string, unknown> } {
  const files = new Map([
    [resolved("data/train-0%20a.parquet"), parquet(rows.slice(0, 60), { rowGroupSize: 20 })],
    [resolved("data/train-1.parquet"), parquet(rows.slice(60), { rowGroupSize: 20 })],
  ]);
  const siblings = ["README.md", "data/train-0 a.parquet", "data/train-1.parquet", "data/test-0.parquet"].map((rfilename) => ({ rfilename }));
  return { files, json: new Map([[`/api/datasets/owner/name/revision/${commit}`, { siblings }]]) };
}

const open = (path: string, endpoint: string, { sample, cacheDirectory = cache(), apiKey }: { sample?: number; cacheDirectory?: string; apiKey?: Secret } = {}) =>
  openCorpus([sourceOf(path, sample === undefined ? {} : { sample })], corpusOptions(cacheDirectory, { hub: { endpoint, ...(apiKey === undefined ? {} : { apiKey }) } }));

test("a dataset by commit holds what its rows hold as JSONL; its index needs no network any more", async () => {
  await using server = await serveRanges(dataset());
  const lines = join(root, "rows.jsonl");
  writeFileSync(lines, jsonl(rows));
  for (const sample of [undefined, 7]) {
    const cacheDirectory = cache();
    const path = `hf://datasets/owner/name@${commit}/data/train-`;
    const remote = await open(path, server.origin, { cacheDirectory, ...(sample === undefined ? {} : { sample }) });
    const local = await open(lines, server.origin, sample === undefined ? {} : { sample });
    expect(remote.digest).toBe(local.digest);
    expect(remote.size).toBe(sample ?? rows.length);
    expect(remote.document(0).source).toMatchObject({ file: expect.stringContaining(resolved("data/train-")) as string, row: expect.any(Number) as number });
    const asked = server.seen.length;
    const again = await open(path, server.origin, { cacheDirectory, ...(sample === undefined ? {} : { sample }) });
    expect(again.digest).toBe(remote.digest);
    expect(server.seen).toHaveLength(asked);
    for (const corpus of [remote, local, again]) corpus.close();
  }
});

test("a sample reads no more than the pages it needs", async () => {
  const many: TestRecord[] = Array.from({ length: 10_000 }, (_, i) => ({ text: `document ${i} ${i ** 3} ${Array.from({ length: 20 }, (_unused, j) => (i * 7919 + j * 104_729) % 99_991).join(" ")}` }));
  const whole = parquet(many, { rowGroupSize: 2000, pageSize: 4096, codec: "UNCOMPRESSED" });
  await using server = await serveRanges({ files: new Map([["/x.parquet", whole]]) });
  const corpus = await open(`${server.origin}/x.parquet`, server.origin, { sample: 5 });
  expect(corpus.size).toBe(5);
  expect(server.sentBytes).toBeLessThan(whole.length / 3);
  corpus.close();
});

test("the token goes to the endpoint, and nowhere else", async () => {
  const { files, json } = dataset();
  await using store = await serveRanges({ files });
  const redirect = (request: IncomingMessage, response: ServerResponse): boolean => {
    if (request.url?.includes("/resolve/") !== true) return false;
    response.writeHead(302, { location: `${store.origin}${request.url}` }).end();
    return true;
  };
  await using hub = await serveRanges({ files: new Map(), json, intercept: redirect });
  const corpus = await open(`hf://datasets/owner/name@${commit}/data/train-`, hub.origin, { apiKey: new Secret("HF_TOKEN", "hush") });
  expect(corpus.size).toBe(rows.length);
  expect(hub.seen.every(({ authorization }) => authorization === "Bearer hush")).toBe(true);
  expect(store.seen.length).toBeGreaterThan(0);
  expect(store.seen.every(({ authorization }) => authorization === "")).toBe(true);
  corpus.close();
});

test("a reader killed in the middle leaves no index; the next reader clears up and reads all", async () => {
  const { files, json } = dataset();
  let requests = 0;
  const stuck = Promise.withResolvers<undefined>();
  const intercept = (): boolean => {
    if (++requests !== 6) return false;
    stuck.resolve(undefined);
    return true;
  };
  await using server = await serveRanges({ files, json, intercept });
  const [path, cacheDirectory] = [`hf://datasets/owner/name@${commit}/data/train-`, cache()];
  const here = (file: string): string => JSON.stringify(join(import.meta.dirname, file));
  const script = `
    const { openCorpus } = await import(${here("corpus.ts")});
    const { corpusOptions, sourceOf } = await import(${here("testing/containers.ts")});
    await openCorpus([sourceOf(${JSON.stringify(path)})], corpusOptions(${JSON.stringify(cacheDirectory)}, { hub: { endpoint: ${JSON.stringify(server.origin)} } }));`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
  await stuck.promise;
  expect(readdirSync(cacheDirectory)).toEqual([expect.stringMatching(new RegExp(`\\.sqlite\\.${child.pid ?? 0}@`))]);
  child.kill("SIGKILL");
  await once(child, "close");
  const corpus = await open(path, server.origin, { cacheDirectory });
  expect(corpus.size).toBe(rows.length);
  expect(readdirSync(cacheDirectory)).toEqual([expect.stringMatching(/\.sqlite$/)]);
  corpus.close();
});

describe("what goes wrong names the place and the remedy", () => {
  const fails = async (served: Served, path: string, expected: { readonly code: string; readonly says: readonly string[] }): Promise<void> => {
    await using server = await serveRanges(served);
    const error: unknown = await open(path.replace("SERVER", server.origin), server.origin).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: expected.code });
    for (const text of expected.says) expect(String(error)).toContain(text);
  };
  const whole = parquet(rows);
  const file = (content: Uint8Array) => ({ files: new Map([["/x.parquet", content]]) });

  test.each([
    ["hf://datasets/owner/name", ["names no revision", "git ls-remote https://huggingface.co/datasets/owner/name main"]],
    ["hf://datasets/owner/name@main/data", ['"main"', "Pin the commit"]],
    ["https://huggingface.co/datasets/owner/name/resolve/main/data/x.parquet", ['"main"', "git ls-remote"]],
    [`hf://datasets/owner/name@${commit.slice(0, 8)}`, ["40 hexadecimal digits"]],
  ] as const)("a revision that can move: %s", (path, says) => fails({ files: new Map() }, path, { code: "corpus.revision", says }));

  test("addresses that cannot be read", async () => {
    for (const [path, says] of [["s3://bucket/x.parquet", "hf://datasets"], ["https://host/x.jsonl.gz", "only Parquet"], ["https://me:key@host/x.parquet", "without user and password"]] as const) {
      await fails({ files: new Map() }, path, { code: "corpus.path", says: [says] });
    }
  });

  test("404 of the dataset and of the file", async () => {
    await fails({ files: new Map() }, `hf://datasets/owner/name@${commit}`, { code: "corpus.remote", says: ["404", "owner/name", "apiKeyEnv"] });
    await fails(file(whole), "SERVER/y.parquet", { code: "corpus.remote", says: ["/y.parquet", "404", "path"] });
  });

  test("a prefix that no file has", () => fails(dataset(), `hf://datasets/owner/name@${commit}/date/`, { code: "corpus.remote", says: ['"date/"', "data/train-1.parquet"] }));
  test("a login is wanted", () => fails({ files: new Map(), intercept: (_request, response) => (response.writeHead(401).end(), true) }, `hf://datasets/owner/name@${commit}`, { code: "corpus.remote", says: ["401", "apiKeyEnv"] }));
  test("no byte ranges", async () => {
    const says = ["does not answer byte ranges", "Download the file"];
    await fails({ files: new Map(), intercept: (_request, response) => (response.end(whole), true) }, "SERVER/x.parquet", { code: "corpus.remote", says });
    await fails({ files: new Map(), intercept: (_request, response) => (response.end(Buffer.alloc(3 * 2 ** 20)), true) }, "SERVER/x.parquet", { code: "corpus.remote", says });
  });
  test("an empty file (416)", () => fails(file(new Uint8Array()), "SERVER/x.parquet", { code: "corpus.remote", says: ["416", "/x.parquet", "empty"] }));
  test("no Parquet", () => fails(file(Buffer.from("x".repeat(100))), "SERVER/x.parquet", { code: "corpus.file", says: ["no whole Parquet file", "again"] }));

  test("a file that changes while it is read", async () => {
    const files = new Map([["/x.parquet", whole]]);
    const other = parquet(rows.slice(3));
    // Before the file is opened again, before its footer, before its rows.
    for (const [moment, says] of [[1, "were"], [2, "were"], [3, "row group 0"]] as const) {
      let requests = 0;
      const intercept = (): boolean => (requests++ === moment && files.set("/x.parquet", other), false);
      files.set("/x.parquet", whole);
      await fails({ files, intercept }, "SERVER/x.parquet", { code: "corpus.changed", says: [says, "/x.parquet", `were ${whole.length} `] });
    }
  });

  test("a file that changes between two runs is read again", async () => {
    const files = new Map([["/x.parquet", whole]]);
    await using server = await serveRanges({ files });
    const cacheDirectory = cache();
    const first = await open(`${server.origin}/x.parquet`, server.origin, { cacheDirectory });
    files.set("/x.parquet", parquet(rows.slice(3)));
    const second = await open(`${server.origin}/x.parquet`, server.origin, { cacheDirectory });
    expect([first.size, second.size]).toEqual([120, 117]);
    expect(second.digest).not.toBe(first.digest);
    first.close();
    second.close();
  });
});
