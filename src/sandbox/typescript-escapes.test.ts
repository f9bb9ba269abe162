import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ObservedSandbox } from "./pool.ts";
import { createOne, openProgram, openTestSandbox, valueOf } from "./test-sandbox.ts";
import { descendantsOf } from "./test-processes.ts";
import { typescriptEscapeProbes } from "./typescript-escape-probes.ts";

const secret = "canary-81f04d3e";
const directory = mkdtempSync(join(tmpdir(), "spade-quickjs-"));
const secretFile = join(directory, "secret.txt");
const outputFile = join(directory, "out.txt");
const healthy = `
export default class Healthy extends TextGame {
  maxTurns = 9;
  reset(seed: number) { this.start(seed); return this.show(String(this.rng.random() + Math.random())); }
  step(action: string) { return this.tell(action + Math.random() + ({} as any).polluted + Date.now()); }
}`;

let sandbox: ObservedSandbox;
let server: Server;
let connections = 0;
let port = 0;
let expected: string[] = [];

beforeAll(async () => {
  writeFileSync(secretFile, secret);
  Object.assign(process.env, { SPADE_TEST_SECRET: secret }); // eslint-disable-line no-restricted-properties -- the child must not inherit it
  server = createServer((socket) => {
    connections++;
    socket.end(secret);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  port = typeof address === "object" && address !== null ? address.port : 0;
  sandbox = await openTestSandbox({ fuelPerCall: 50_000, wallMsPerCall: 2000, memoryLimitBytes: 64 * 2 ** 20 });
  expected = await playHealthy();
});

afterAll(async () => {
  await sandbox.close();
  server.close();
  rmSync(directory, { recursive: true });
});

async function playHealthy(): Promise<string[]> {
  const handle = await openProgram(sandbox, healthy);
  const { instance, observation } = await createOne(handle, 5);
  const step = valueOf((await handle.step([{ instance, action: "a" }]))[0]);
  await handle.close();
  return [observation, step.observation];
}

/** Everything a program could say in reset and a step: observations and failures. */
async function said(source: string): Promise<string> {
  const opened = await sandbox.open({ language: "typescript", source });
  if (!opened.ok) return `${opened.failure.code}: ${opened.failure.message}`;
  const created = (await opened.value.create([1]))[0];
  const stepped = created?.ok === true ? (await opened.value.step([{ instance: created.value.instance, action: "x" }]))[0] : undefined;
  await opened.value.close();
  return JSON.stringify([created, stepped]);
}

describe("TypeScript escape probes have no effect on the host", () => {
  const names = typescriptEscapeProbes({ secretFile, outputFile, port: 0 }).map(({ name }) => name);

  test("the battery is large", () => expect(names.length).toBeGreaterThanOrEqual(100));

  test.each(names)("%s", async (name) => {
    const probe = typescriptEscapeProbes({ secretFile, outputFile, port }).find((one) => one.name === name);
    const text = await said(probe?.source ?? "");
    // The probe itself parsed: it was tried.
    expect(text).not.toMatch(/^parse/);
    expect(text).not.toContain(secret);
    expect(text.slice(text.indexOf("got "))).not.toContain(secretFile);
    expect(text).not.toContain("node_modules");
    expect(existsSync(outputFile)).toBe(false);
    expect(readFileSync(secretFile, "utf8")).toBe(secret);
    expect(connections).toBe(0);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(await playHealthy()).toEqual(expected);
    // At most the child itself, which may be a new one; under bubblewrap it is a descendant of the wrapper.
    const own = sandbox.pids().flatMap((pid) => [pid, ...descendantsOf(pid)]);
    expect(descendantsOf(process.pid).filter((pid) => !own.includes(pid) && isSandboxChild(pid))).toEqual([]);
  });
});

function isSandboxChild(pid: number): boolean {
  return existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("sandbox/child");
}
