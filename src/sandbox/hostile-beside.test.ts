import { readdirSync } from "node:fs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { healthySource } from "./fixtures.ts";
import type { ObservedSandbox } from "./pool.ts";
import { descendantsOf, isRunning } from "./test-processes.ts";
import { openProgram, openTestSandbox, testCache } from "./test-sandbox.ts";
import { allHostile, hostileLimits, playHealthy, provoke, type Provoked } from "./testing/hostile-play.ts";
import { healthyTypeScript } from "./typescript-fixtures.ts";

vi.setConfig({ testTimeout: 300_000 });

/** One or two of each kind; the rest run in `hostile.test.ts`, `typescript.test.ts` and the bench. */
const kinds = [
  "spins", "spins and swallows every exception", "regex blow-up", "C loop without signal checks", "bignum blow-up", "allocates 10 MB at a time", "prints floods", "huge observation",
  "os._exit", "forks", "starts a process", "recursion through C slots", "exception whose text hangs", "forges a reply",
  "slow drip of fuel", "slow drip of memory", "slow drip of output", "signal games", "alarm clock", "kills its parent", "kills its process group", "empties every object it finds",
  "patches the shared library", "colliding hashes", "comparison that never ends", "finalizer that never ends", "context that swallows", "text that lies about its length",
  "compressed bomb", "digits without end", "starts threads",
  "spins (TypeScript)", "promise loop (TypeScript)", "doubles a string (TypeScript)", "recursion through proxies (TypeScript)", "forges a reply (TypeScript)",
];
/** Long enough that fuel runs out first also where others use the machine too. */
const wallMs = 2500;
const before = descendantsOf(process.pid);
let sandbox: ObservedSandbox;
beforeAll(async () => {
  sandbox = await openTestSandbox({ ...hostileLimits, wallMsPerCall: wallMs }, 2);
}, 180_000);
afterAll(() => sandbox.close());

test("hostile programs of many kinds, one after the other, beside 50 healthy episodes at a time", async () => {
  const healthy = await Promise.all([openProgram(sandbox, healthySource, 0), openProgram(sandbox, healthySource, 1), openProgram(sandbox, healthyTypeScript, 0), openProgram(sandbox, healthyTypeScript, 1), openProgram(sandbox, healthySource, 0)]);
  const seeds = Array.from({ length: 10 }, (_, i) => i);
  const alone = await playHealthy(healthy, seeds);
  const residentBefore = process.memoryUsage.rss();
  const ended: Provoked[] = [];
  let rounds = 0;
  await Promise.all([
    (async () => {
      for (const [i, name] of kinds.entries()) {
        const fixture = allHostile.find((one) => one.name === name);
        if (fixture === undefined) throw new Error(`no fixture ${name}`);
        ended.push(await provoke(sandbox, fixture, i % 2));
      }
    })(),
    (async () => {
      for (; ended.length < kinds.length; rounds++) expect(await playHealthy(healthy, seeds)).toEqual(alone);
    })(),
  ]);
  expect(rounds).toBeGreaterThan(0);
  expect(ended.filter(({ isRight }) => !isRight)).toEqual([]);
  // On a machine that others use too, the start of a child that a call waits for takes seconds; the limit and a second are measured by `npm run bench -- hostile`.
  expect(ended.filter(({ slowestMs }) => slowestMs > wallMs + 7500)).toEqual([]);
  expect(process.memoryUsage.rss() - residentBefore).toBeLessThan(200 * 2 ** 20);
});

test("then nothing is left: no process, no file", async () => {
  await sandbox.close();
  await vi.waitFor(() => expect(descendantsOf(process.pid).filter((pid) => !before.includes(pid) && isRunning(pid))).toEqual([]), { timeout: 5000 });
  // Other tests make files for a moment in the same directory.
  await vi.waitFor(() => expect(readdirSync(testCache).filter((name) => name.startsWith("progress-"))).toEqual([]), { timeout: 5000 });
});
