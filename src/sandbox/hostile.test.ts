import { spawn } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { healthySource, hostileFixtures } from "./fixtures.ts";
import type { ObservedSandbox } from "./pool.ts";
import type { ProgramHandle } from "./sandbox.ts";
import { cpuTicks, descendantsOf, isRunning } from "./test-processes.ts";
import { createOne, openProgram, openTestSandbox, valueOf } from "./test-sandbox.ts";
import { healthyTypeScript, hostileTypeScript } from "./typescript-fixtures.ts";

const wallMs = 1500;
let sandbox: ObservedSandbox;

beforeAll(async () => {
  sandbox = await openTestSandbox({ fuelPerCall: 100_000, wallMsPerCall: wallMs, memoryLimitBytes: 48 * 2 ** 20 }, 2);
});
afterAll(() => sandbox.close());

/** Observations of one healthy episode, from a running instance. */
async function play(handle: ProgramHandle, seed: number): Promise<string[]> {
  const { instance, observation } = await createOne(handle, seed);
  const seen = [observation];
  for (let turn = 0; turn < 12; turn++) {
    seen.push(valueOf((await handle.step([{ instance, action: `go${turn}` }]))[0]).observation);
  }
  await handle.release([instance]);
  return seen;
}

describe("hostile programs", () => {
  test.each([...hostileFixtures, ...hostileTypeScript])("$name: fails with its code, in time, and leaves the lane usable", async ({ source, codes }) => {
    const handle = await openProgram(sandbox, source, 0);
    const isTypeScript = source.includes("export default");
    const [instance = NaN, twin = NaN] = (await handle.create([1, 2])).map((result) => valueOf(result).instance);
    const waits = async (who: number): Promise<void> => expect(valueOf((await handle.step([{ instance: who, action: "wait" }]))[0]).observation).toBe("waiting");
    for (const who of [instance, instance, instance, twin]) await waits(who);
    const start = performance.now();
    const result = (await handle.step([{ instance, action: "now" }]))[0];
    // Within the limit and a second, on a machine that others use too.
    expect(performance.now() - start).toBeLessThan(wallMs + 2500);
    expect(result?.ok).toBe(false);
    expect(codes).toContain(result?.ok === false ? result.failure.code : undefined);
    // TypeScript instances share nothing; those of a Python program share what it may break.
    if (isTypeScript) await waits(twin);
    await handle.close();
    const healthy = await openProgram(sandbox, isTypeScript ? healthyTypeScript : healthySource, 0);
    expect((await play(healthy, 3)).length).toBe(13);
    await healthy.close();
  });

  test("T8: five hostile programs beside 50 healthy episodes leave their records as they are", async () => {
    const healthy = await Promise.all([0, 1].map((lane) => openProgram(sandbox, healthySource, lane)));
    const seeds = Array.from({ length: 25 }, (_, i) => i);
    const alone = await Promise.all(healthy.map((handle) => Promise.all(seeds.map((seed) => play(handle, seed)))));
    const wanted = ["spins", "allocates 10 MB at a time", "forks", "prints floods", "os._exit"];
    const hostile = await Promise.all(
      hostileFixtures.filter(({ name }) => wanted.includes(name)).map(async ({ source, codes }, i) => ({ codes, handle: await openProgram(sandbox, source, i % 2) })),
    );
    const residentBefore = process.memoryUsage.rss();
    const [together, failures] = await Promise.all([
      Promise.all(healthy.map((handle) => Promise.all(seeds.map((seed) => play(handle, seed))))),
      Promise.all(
        hostile.map(async ({ handle, codes }) => {
          const { instance } = await createOne(handle, 1);
          for (let i = 0; i < 6; i++) await handle.step([{ instance, action: "wait" }]);
          const result = (await handle.step([{ instance, action: "now" }]))[0];
          return { codes, code: result?.ok === false ? result.failure.code : undefined };
        }),
      ),
    ]);
    expect(together).toEqual(alone);
    expect(failures).toHaveLength(5);
    for (const { codes, code } of failures) expect(codes).toContain(code);
    expect(process.memoryUsage.rss() - residentBefore).toBeLessThan(200 * 2 ** 20);
    await Promise.all([...healthy, ...hostile.map(({ handle }) => handle)].map((handle) => handle.close()));
  });

  test("a hung instance never destroys the others of its program", async () => {
    const source = healthySource.replace("def step(self, action):", "def step(self, action):\n        if action == 'hang': sum(range(10 ** 12))\n        if action == 'spin':\n            while True: pass");
    const handle = await openProgram(sandbox, source, 0);
    const reference = await openProgram(sandbox, source, 1);
    const ids = (await handle.create([1, 2, 3, 4])).map((result) => valueOf(result).instance);
    const [a, b, c, d] = ids as [number, number, number, number];
    await handle.step(ids.map((instance) => ({ instance, action: "go0" })));
    const mixed = await handle.step([a, b, c, d].map((instance) => ({ instance, action: instance === b ? "spin" : instance === c ? "hang" : "go1" })));
    expect(mixed.map((result) => (result.ok ? "ok" : result.failure.code))).toEqual(["ok", "fuel", "timeout", "ok"]);
    const after = await handle.step(ids.map((instance) => ({ instance, action: "go2" })));
    expect(after.map((result) => (result.ok ? "ok" : result.failure.code))).toEqual(["ok", "fuel", "timeout", "ok"]);
    const expected = await play(reference, 4);
    expect([valueOf(mixed[3]).observation, valueOf(after[3]).observation]).toEqual([expected[2], expected[3]]);
    await handle.close();
    await reference.close();
  });

  test("a program that keeps running into its limits is not run again", async () => {
    const handle = await openProgram(sandbox, hostileFixtures[0]!.source, 0);
    const ids = (await handle.create([1, 2, 3, 4, 5, 6, 7, 8])).map((result) => valueOf(result).instance);
    const results = await handle.step(ids.map((instance) => ({ instance, action: "now" })));
    expect(new Set(results.map((result) => (result.ok ? "ok" : result.failure.code)))).toEqual(new Set(["fuel"]));
    expect((await handle.create([9]))[0]).toMatchObject({ ok: false, failure: { code: "fuel" } });
    await handle.close();
  });

  test("many traps deep in the stack leave the interpreter as it was", async () => {
    const deep = "import os\ndef dive(n):\n    return sorted([0], key=lambda _: dive(n - 1) if n else os._exit(0))\n";
    const handle = await openProgram(sandbox, deep + healthySource.replace("def step(self, action):", "def step(self, action):\n        if action == 'trap': dive(60)"), 0);
    const expected = await play(handle, 5);
    const ids = (await handle.create(Array.from({ length: 100 }, (_, i) => i))).map((result) => valueOf(result).instance);
    const results = await handle.step(ids.map((instance) => ({ instance, action: "trap" })));
    expect(results.every((result) => !result.ok && result.failure.code === "exit")).toBe(true);
    expect(await play(handle, 5)).toEqual(expected);
    await handle.close();
  });

  test("a parent that is itself held up does not blame a child that has answered", async () => {
    const quick = await openTestSandbox({ wallMsPerCall: 500 });
    const handle = await openProgram(quick, healthySource);
    const { instance } = await createOne(handle, 1);
    const step = handle.step([{ instance, action: "go" }]);
    await new Promise((resolve) => setImmediate(resolve));
    const until = performance.now() + 1500;
    while (performance.now() < until);
    expect(valueOf((await step)[0]).reward).toBe(0);
    await quick.close();
  });

  test("failures at load have their codes", async () => {
    const codeOf = async (source: string) => {
      const result = await sandbox.open({ language: "python", source });
      return result.ok ? "ok" : result.failure.code;
    };
    expect(await codeOf("x = (")).toBe("parse");
    expect(await codeOf("x = '\\0'\0")).toBe("parse");
    expect(await codeOf(`x = ${"-".repeat(20000)}1`)).toBe("parse");
    expect(await codeOf("x = 1")).toBe("protocol");
    expect(await codeOf("import numpy")).toBe("raise");
    expect(await codeOf("import ctypes")).toBe("denied");
    expect(await codeOf("while True: pass")).toBe("fuel");
    expect(await codeOf("sum(range(10 ** 12))")).toBe("timeout");
    expect(await codeOf("class A:\n    def __init__(self): raise ValueError('no')\n    def reset(self, seed): pass\n    def step(self, action): pass")).toBe("raise");
  });

  test.runIf(process.platform === "linux")("a killed parent leaves no child, not even one in an endless native loop (Linux: /proc, setpriv)", async () => {
    const script = `
      import { openProgram, openTestSandbox } from ${JSON.stringify(new URL("test-sandbox.ts", import.meta.url).href)};
      const sandbox = await openTestSandbox({ wallMsPerCall: 60_000 });
      const handle = await openProgram(sandbox, ${JSON.stringify(healthySource.replace("def reset", "def __init__(self):\n        pass\n    def reset").replace("self.rng = ", "seed and sum(range(10 ** 12))\n        self.rng = "))});
      await handle.create([0]);
      void handle.create([1]);
      console.log(sandbox.pids()[0]);
    `;
    const parent = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    const pid = await new Promise<number>((resolve) => parent.stdout.once("data", (chunk: Buffer) => resolve(Number(chunk.toString("utf8")))));
    // Inside bubblewrap the guest runs in a descendant of what was started.
    const family = [pid, ...descendantsOf(pid)];
    const ticks = (): number => family.reduce((sum, member) => sum + cpuTicks(member), 0);
    const before = ticks();
    // It is in the loop when it has burned another half second.
    await vi.waitFor(() => expect(ticks()).toBeGreaterThan(before + 50), { timeout: 10_000 });
    parent.kill("SIGKILL");
    await vi.waitFor(() => expect(family.filter(isRunning)).toEqual([]), { timeout: 5000 });
  });

  test("nothing is left after close", async () => {
    const own = await openTestSandbox({}, 2);
    const handles = await Promise.all([0, 1].map((lane) => openProgram(own, healthySource, lane)));
    const pids = own.pids();
    expect(pids).toHaveLength(2);
    const [ended] = await Promise.all([handles[0]!.create([1]).then(() => "done", () => "rejected"), own.close()]);
    expect(ended).toBe("rejected");
    expect(descendantsOf(process.pid).filter((pid) => pids.includes(pid))).toEqual([]);
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow();
    await expect(handles[1]!.create([1])).rejects.toMatchObject({ code: "sandbox.closed" });
  });
});
