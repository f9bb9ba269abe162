import { mkdtempSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { escapeProbes } from "./escape-probes.ts";
import type { ObservedSandbox } from "./pool.ts";
import { createOne, openProgram, openTestSandbox } from "./test-sandbox.ts";
import { descendantsOf } from "./test-processes.ts";

const secret = "canary-5c2e9b7a";
const directory = mkdtempSync(join(tmpdir(), "spade-escape-"));
const secretFile = join(directory, "secret.txt");
const outputFile = join(directory, "out.txt");
const healthy = "class Healthy(TextGame):\n    def reset(self, seed):\n        return self.show(str(self.start(seed).random()))\n    def step(self, action):\n        return self.finish(True)\n";

let sandbox: ObservedSandbox;
let server: Server;
let connections = 0;
let port = 0;
let expected = "";

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
  sandbox = await openTestSandbox({ fuelPerCall: 100_000, wallMsPerCall: 4000 });
  expected = (await createOne(await openProgram(sandbox, healthy), 5)).observation;
});

afterAll(async () => {
  await sandbox.close();
  server.close();
  rmSync(directory, { recursive: true });
});

/** What the program could say: its observation, or the failure. */
async function said(source: string): Promise<string> {
  const opened = await sandbox.open({ language: "python", source });
  if (!opened.ok) return `${opened.failure.code}: ${opened.failure.message}`;
  const created = (await opened.value.create([1]))[0];
  await opened.value.close();
  return created?.ok === true ? created.value.observation : `${created?.failure.code ?? ""}: ${created?.failure.message ?? ""}`;
}

describe("escape probes have no effect on the host", () => {
  const probes = escapeProbes({ secretFile, outputFile, port: 0 });

  test("the battery is large", () => {
    expect(probes.length).toBeGreaterThanOrEqual(60);
  });

  test.each(probes.map(({ name }) => name))("%s", async (name) => {
    const probe = escapeProbes({ secretFile, outputFile, port }).find((one) => one.name === name);
    const text = await said(probe?.source ?? "");
    expect(text).not.toContain(secret);
    expect(text).not.toContain("root:");
    expect(existsSync(outputFile)).toBe(false);
    expect(readFileSync(secretFile, "utf8")).toBe(secret);
    expect(connections).toBe(0);
    // At most the child itself.
    const children = sandbox.pids();
    expect(descendantsOf(process.pid).filter((pid) => !children.includes(pid) && isSandboxChild(pid))).toEqual([]);
    const after = await openProgram(sandbox, healthy);
    expect((await createOne(after, 5)).observation).toBe(expected);
    await after.close();
  });

  test("clock and entropy are the same in every run", async () => {
    const source = escapeProgram("import os, time, uuid, random, secrets, datetime\nreturn (time.time(), time.monotonic(), os.urandom(8), uuid.uuid4(), random.SystemRandom().random(), secrets.token_hex(4), random.Random().random(), datetime.datetime.now())");
    const first = await said(source);
    expect(first).toMatch(/^got/);
    expect(await said(source)).toBe(first);
  });

  test("process facts say nothing of the host", async () => {
    const text = await said(escapeProgram("import os, platform, sys\nreturn (os.environ.get('SPADE_TEST_SECRET'), os.environ.get('PATH'), sys.argv, platform.node())"));
    expect(text).not.toContain(secret);
    expect(text).not.toContain("node_modules");
  });
});

function isSandboxChild(pid: number): boolean {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("sandbox/child");
}

function escapeProgram(body: string): string {
  const lines = body.split("\n").map((line) => `    ${line}`);
  return `def probe():\n${lines.join("\n")}\nclass P(TextGame):\n    def reset(self, seed):\n        return 'got ' + repr(probe())\n    def step(self, action):\n        return self.finish(False)\n`;
}
