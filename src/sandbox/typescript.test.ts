import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ObservedSandbox } from "./pool.ts";
import { residentBytesOf } from "./processes.ts";
import type { ProgramHandle } from "./sandbox.ts";
import { createOne, openProgram, openTestSandbox, trace, valueOf } from "./test-sandbox.ts";
import { dialects } from "./testing/dialects.ts";
import { healthyTypeScript, hostileTypeScript } from "./typescript-fixtures.ts";

const { guess, shaped } = dialects[1]!;
let sandbox: ObservedSandbox;

beforeAll(async () => {
  sandbox = await openTestSandbox({ fuelPerCall: 100_000, wallMsPerCall: 1500, memoryLimitBytes: 48 * 2 ** 20, maxInstances: 128 }, 2);
});
afterAll(() => sandbox.close());

describe("loading", () => {
  test("plain JavaScript and bare strings are accepted", async () => {
    const handle = await openProgram(sandbox, "export default class A { reset(seed) { return 'r' + seed } step(a) { return { observation: a, reward: 1, terminated: true, truncated: false } } }");
    const { instance, observation } = await createOne(handle, 3);
    expect(observation).toBe("r3");
    expect(valueOf((await handle.step([{ instance, action: "x" }]))[0])).toMatchObject({ observation: "x", reward: 1 });
    await handle.close();
  });

  test.each([
    ["export class Helper { } export class MazeEnv { reset() { return '' } step() {} }", "MazeEnv"],
    ["export class Aux { reset() {} step() {} } export default class { reset() { return '' } step() {} }", "default"],
    ["class Base { reset() { return '' } step() {} } export default class Sub extends Base {}", "Sub"],
  ])("finds the entry class of %j", async (source, entry) => {
    const handle = await openProgram(sandbox, source);
    expect(handle.facts.entry).toBe(entry);
    await handle.close();
  });

  test("failures at load have their codes", async () => {
    const codeOf = async (source: string) => (await sandbox.open({ language: "typescript", source }).then((result) => (result.ok ? undefined : result.failure))) ?? { code: "ok" };
    expect(await codeOf("const x = (")).toMatchObject({ code: "parse" });
    expect(await codeOf("enum A { B }\nexport default class {}")).toMatchObject({ code: "parse", message: expect.stringContaining("enum") as string });
    expect(await codeOf("export const x = 1")).toMatchObject({ code: "protocol", message: expect.stringContaining("export default class") as string });
    expect(await codeOf("import { readFileSync } from 'node:fs';\nexport default class {}")).toMatchObject({ code: "denied" });
    expect(await codeOf("export const x = missing")).toMatchObject({ code: "raise", message: "ReferenceError: missing is not defined (line 1)" });
    expect(await codeOf("while (true);\nexport {}")).toMatchObject({ code: "fuel" });
    expect(await codeOf("await new Promise(() => 0);\nexport {}")).toMatchObject({ code: "protocol" });
    expect(await codeOf("export default class { constructor() { throw new TypeError('no') } reset() {} step() {} }")).toMatchObject({ code: "raise", message: expect.stringContaining("TypeError: no") as string });
  });

  test("a program that breaks the type stripper costs nobody anything", async () => {
    const healthy = await openProgram(sandbox, guess, 0);
    const { instance } = await createOne(healthy, 1);
    const deep = await sandbox.open({ language: "typescript", source: `export const x = ${"(".repeat(20_000)}` }, { lane: 0 });
    expect(deep).toMatchObject({ ok: false, failure: { code: "parse", message: expect.stringContaining("deep") as string } });
    expect(valueOf((await healthy.step([{ instance, action: "0" }]))[0]).observation).toBe("higher");
    const next = await openProgram(sandbox, guess, 0);
    await Promise.all([healthy.close(), next.close()]);
  });
});

describe("chance, forks, company", () => {
  test("both languages run side by side in one lane", async () => {
    const python = await openProgram(sandbox, "class P(TextGame):\n    def reset(self, seed): return str(self.start(seed).random())\n    def step(self, a): return self.tell(str(self.rng.random()))\n", 0);
    const script = await openProgram(sandbox, healthyTypeScript, 0);
    const [p, s] = [await createOne(python, 1), await createOne(script, 1)];
    const first = await trace(script, 2);
    await python.step([{ instance: p.instance, action: "x" }]);
    expect(await trace(script, 2, () => python.step([{ instance: p.instance, action: "x" }]))).toEqual(first);
    valueOf((await script.step([{ instance: s.instance, action: "x" }]))[0]);
    await Promise.all([python.close(), script.close()]);
  });

  test("Math.random follows the seed, and differs between seeds", async () => {
    const handle = await openProgram(sandbox, shaped({ reset: "return String(Math.random())" }));
    const seeds = [1, 1, 2, 2 ** 40 + 1];
    const seen = (await handle.create(seeds)).map((result) => valueOf(result).observation);
    expect(seen[0]).toBe(seen[1]);
    expect(new Set(seen).size).toBe(3);
    await handle.close();
  });

  test("a fork goes on exactly, in the same child and in another one, generators and jobs included", async () => {
    const source = `
      function* walk(rng: Random) { let at = 0; for (;;) at += rng.int(-9, 9) + (yield \`\${at} \${Math.random()}\`).length; }
      export default class Cave {
        walk: any; seen = new Map(); late = 0;
        reset(seed: number) { this.walk = walk(new Random(seed)); return { observation: this.walk.next().value }; }
        step(action: string) { this.seen.set({}, action); Promise.resolve().then(() => this.late++); return { observation: \`\${this.walk.next(action).value} \${this.seen.size} \${this.late} \${Date.now()}\`, reward: 0, terminated: false, truncated: false }; }
      }`;
    const [handle, elsewhere] = [await openProgram(sandbox, source, 0), await openProgram(sandbox, source, 1)];
    const play = async (on: ProgramHandle, instance: number, actions: readonly string[]) => {
      const seen: string[] = [];
      for (const action of actions) seen.push(valueOf((await on.step([{ instance, action }]))[0]).observation);
      return seen;
    };
    const { instance } = await createOne(handle, 11);
    await play(handle, instance, ["a", "bb"]);
    const fork = valueOf(await handle.fork(instance));
    expect(fork.state).toBeDefined();
    const expected = await play(handle, instance, ["c", "dd", "e"]);
    for (const on of [handle, elsewhere]) {
      const [first, second] = [await on.restore(fork), await on.restore(fork)];
      expect(await play(on, first, ["x", "y"])).not.toEqual(expected.slice(0, 2));
      expect(await play(on, second, ["c", "dd", "e"])).toEqual(expected);
    }
    await Promise.all([handle.close(), elsewhere.close()]);
  });

});

describe("traps and memory", () => {
  test("a program that uses up its memory again and again does not wear out the child", async () => {
    const fixture = hostileTypeScript.find(({ name }) => name === "allocates 10 MB at a time")!;
    const handle = await openProgram(sandbox, fixture.source, 0);
    const { starts } = sandbox.statistics()[0]!;
    for (let i = 0; i < 24; i++) {
      const { instance } = await createOne(handle, i);
      expect((await handle.step([{ instance, action: "now" }]))[0]).toMatchObject({ ok: false, failure: { code: "memory" } });
    }
    expect(sandbox.statistics()[0]!.starts).toBe(starts);
    await handle.close();
  });

  test.skipIf(process.platform !== "linux")("loading one program after another takes no more memory (Linux: /proc)", async () => {
    const residentMiB = (): number => residentBytesOf(sandbox.pids()[0]) / 2 ** 20;
    const loadMany = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) await (await openProgram(sandbox, healthyTypeScript, 0)).close();
    };
    await loadMany(20);
    const before = residentMiB();
    await loadMany(150);
    expect(residentMiB() - before).toBeLessThan(150);
  });

  test("200 traps deep in the stack leave the lane as it was", async () => {
    const deep = healthyTypeScript.replace("this.path.push", "if (action === 'trap') { const f = (n: number): any => (n > 0 ? [1, 2].sort(() => f(n - 1)) : import('x')); f(50); } this.path.push");
    const handle = await openProgram(sandbox, deep, 0);
    const before = await trace(handle, 5);
    for (let round = 0; round < 2; round++) {
      const ids = (await handle.create(Array.from({ length: 100 }, (_, i) => i))).map((result) => valueOf(result).instance);
      const results = await handle.step(ids.map((instance) => ({ instance, action: "trap" })));
      expect(results.every((result) => !result.ok && result.failure.code === "denied")).toBe(true);
      await handle.release(ids);
    }
    expect(await trace(handle, 5)).toEqual(before);
    await handle.close();
  });
});
