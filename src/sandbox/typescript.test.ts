import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ObservedSandbox } from "./pool.ts";
import type { ProgramHandle } from "./sandbox.ts";
import { createOne, failureOf, openProgram, openTestSandbox, valueOf } from "./test-sandbox.ts";
import { healthyTypeScript, hostileTypeScript } from "./typescript-fixtures.ts";

const wallMs = 1500;
let sandbox: ObservedSandbox;

beforeAll(async () => {
  sandbox = await openTestSandbox({ fuelPerCall: 100_000, wallMsPerCall: wallMs, memoryLimitBytes: 48 * 2 ** 20, maxInstances: 128 }, 2);
});
afterAll(() => sandbox.close());

const guess = `
export default class Guess extends TextGame {
  maxTurns = 3;
  secret!: number;
  reset(seed: number) { this.secret = this.start(seed).int(1, 100); return this.show("Guess a number from 1 to 100."); }
  step(action: string) {
    if (!/^\\d+$/.test(action)) return this.tell("Not a number.");
    return same(action, this.secret) ? this.judge(action, this.secret) : this.tell(Number(action) < this.secret ? "higher" : "lower");
  }
  solution() { return this.secret; }
}
`;

/** A class whose methods are given. */
function shaped(reset: string, step = "return { observation: 'x', reward: 0, terminated: false, truncated: false }", rest = ""): string {
  return `export default class Game {\n  reset(seed: number): any { ${reset} }\n  step(action: string): any { ${step} }\n  ${rest}\n}\n`;
}

function stepWith(fields: string): string {
  return shaped("return 'ready'", `return { observation: 'x', reward: 0, terminated: false, truncated: false, ${fields} }`);
}

describe("contract", () => {
  test("create, step, solution, reset, release, close", async () => {
    const handle = await openProgram(sandbox, guess);
    expect(handle.facts).toMatchObject({ entry: "Guess", hasSolution: true, maxTurns: 3, stateVariables: 2 });
    expect(handle.facts.strings).toContain("Guess a number from 1 to 100.");
    const { instance, observation } = await createOne(handle, 7);
    expect(observation).toBe("Guess a number from 1 to 100.");
    const [action] = valueOf((await handle.solution([instance]))[0]) as [string];
    expect(valueOf((await handle.step([{ instance, action: "0" }]))[0])).toEqual({ observation: "higher", reward: 0, terminated: false, truncated: false, warnings: [] });
    expect(valueOf((await handle.step([{ instance, action }]))[0])).toMatchObject({ observation: "Correct.", reward: 1, terminated: true });
    valueOf((await handle.reset([{ instance, seed: 8 }]))[0]);
    const results = await handle.step(["a", "b", "c"].map((wrong) => ({ instance, action: wrong })));
    expect(results.map((result) => valueOf(result).truncated)).toEqual([false, false, true]);
    await handle.release([instance, 999]);
    await expect(handle.reset([{ instance, seed: 1 }])).rejects.toMatchObject({ code: "sandbox.unknown-instance" });
    await handle.close();
    await expect(handle.create([1])).rejects.toMatchObject({ code: "sandbox.closed" });
  });

  test("plain JavaScript, bare strings, numbers and boxed text are accepted", async () => {
    const handle = await openProgram(sandbox, "export default class A { reset(seed) { return 'r' + seed } step(a) { return { observation: a, reward: true, terminated: true, truncated: false, info: {} } } solution() { return ['\\\\boxed{4}', 2.5] } }");
    const { instance, observation } = await createOne(handle, 3);
    expect(observation).toBe("r3");
    expect(valueOf((await handle.solution([instance]))[0])).toEqual(["4", "2.5"]);
    const odd = ["", "\0", "é✓😀", "\r\n\t", '"}{\\', "x".repeat(10_000), "\ud800"];
    const steps = (await handle.step(odd.map((action) => ({ instance, action })))).map(valueOf);
    expect(steps.map((step) => step.observation)).toEqual([...odd.slice(0, -1), "\ufffd"]);
    expect(steps[0]).toMatchObject({ reward: 1, warnings: ["reward true taken as 1"] });
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

describe("values at the border", () => {
  test.each([
    ["reward: Infinity", "Infinity"],
    ["reward: 10.5", "10.5"],
    ["reward: '1'", '"1"'],
    ["reward: undefined", "undefined"],
    ["reward: 1n", "bigint"],
    ["terminated: 1", "terminated"],
    ["truncated: null", "truncated"],
    ["info: 3", "info"],
    ["observation: null", "observation"],
  ])("step with %s is refused by name", async (fields, named) => {
    expect(await failureOf(sandbox, stepWith(fields), ["a"])).toMatchObject({ code: "protocol", message: expect.stringContaining(named) as string });
  });

  test("reset must give text of bounded length, solution a list", async () => {
    expect(await failureOf(sandbox, shaped("return null"))).toMatchObject({ code: "protocol" });
    expect(await failureOf(sandbox, shaped("return 'x'.repeat(16385)"))).toMatchObject({ code: "output" });
    expect(await failureOf(sandbox, shaped("return 'x'.repeat(16384)"))).toBeUndefined();
    const handle = await openProgram(sandbox, shaped("return 'ready'", undefined, "solution() { return { a: 1 } }"));
    const { instance } = await createOne(handle, 0);
    expect((await handle.solution([instance]))[0]).toMatchObject({ ok: false, failure: { code: "protocol" } });
    await handle.close();
  });
});

/** One episode's observations; steps of other instances may come in between. */
async function trace(handle: ProgramHandle, seed: number, between?: () => Promise<unknown>): Promise<string[]> {
  const { instance, observation } = await createOne(handle, seed);
  const seen = [observation];
  for (let turn = 0; turn < 6; turn++) {
    await between?.();
    seen.push(valueOf((await handle.step([{ instance, action: `a${turn}` }]))[0]).observation);
  }
  await handle.release([instance]);
  return seen;
}

describe("isolation and determinism", () => {
  test("instances share neither module state nor Math.random, in any lane, live or parked", async () => {
    const handle = await openProgram(sandbox, healthyTypeScript, 0);
    const solo = await trace(handle, 3);
    // More instances than a child keeps live: each step of the others parks the one that is watched.
    const others = (await handle.create(Array.from({ length: 40 }, (_, i) => i))).map((result) => valueOf(result).instance);
    const disturb = () => handle.step(others.map((instance) => ({ instance, action: "noise" })));
    expect(await trace(handle, 3, disturb)).toEqual(solo);
    const elsewhere = await openProgram(sandbox, healthyTypeScript, 1);
    expect(await trace(elsewhere, 3)).toEqual(solo);
    await Promise.all([handle.close(), elsewhere.close()]);
  });

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
    const handle = await openProgram(sandbox, shaped("return String(Math.random())"));
    const seeds = [1, 1, 2, 2 ** 40 + 1];
    const seen = (await handle.create(seeds)).map((result) => valueOf(result).observation);
    expect(seen[0]).toBe(seen[1]);
    expect(new Set(seen).size).toBe(3);
    await handle.close();
  });

  test("fuel is exact: the same calls end in the same way in every lane and in any company", async () => {
    const source = shaped("return 'ready'", "let x = 0; for (let i = 0; i < Number(action); i++) x += i; return { observation: String(x), reward: 0, terminated: false, truncated: false }");
    const short = await openTestSandbox({ fuelPerCall: 2000 }, 2);
    const outcomes = async (lane: number, company: number): Promise<string[]> => {
      const handle = await openProgram(short, source, lane);
      await handle.create(Array.from({ length: company }, (_, i) => i));
      const codes: string[] = [];
      for (let n = 10_000; n <= 80_000; n += 5000) {
        const { instance } = await createOne(handle, 0);
        const result = (await handle.step([{ instance, action: "10" }, { instance, action: String(n) }]))[1];
        codes.push(result?.ok === false ? result.failure.code : "ok");
        if (codes.at(-1) === "fuel") break;
        await handle.release([instance]);
      }
      await handle.close();
      return codes;
    };
    const alone = await outcomes(0, 0);
    expect(new Set(alone)).toEqual(new Set(["ok", "fuel"]));
    expect(await outcomes(1, 40)).toEqual(alone);
    await short.close();
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

  test("any interleaving of calls on two instances equals the calls made alone", async () => {
    const handle = await openProgram(sandbox, healthyTypeScript, 0);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 10 }), fc.nat(1000), async (order, seed) => {
        const ids = (await handle.create([seed, seed])).map((result) => valueOf(result).instance) as [number, number];
        const turns = [0, 0];
        const seen: [string[], string[]] = [[], []];
        const results = await handle.step(order.map((which) => ({ instance: ids[Number(which)]!, action: `t${turns[Number(which)]!++}` })));
        results.forEach((result, i) => seen[Number(order[i])]!.push(valueOf(result).observation));
        await handle.release(ids);
        const shorter = Math.min(seen[0].length, seen[1].length);
        return JSON.stringify(seen[0].slice(0, shorter)) === JSON.stringify(seen[1].slice(0, shorter));
      }),
      { numRuns: 15 },
    );
    await handle.close();
  });
});

describe("hostile TypeScript", () => {
  test.each(hostileTypeScript.map(({ name }) => name))("%s: fails with its code, in time; other instances go on", async (name) => {
    const fixture = hostileTypeScript.find((one) => one.name === name)!;
    const handle = await openProgram(sandbox, fixture.source, 0);
    const ids = (await handle.create([1, 2])).map((result) => valueOf(result).instance) as [number, number];
    for (const instance of ids) expect(valueOf((await handle.step([{ instance, action: "wait" }]))[0]).observation).toBe("waiting");
    const start = performance.now();
    const bad = (await handle.step([{ instance: ids[0], action: "now" }]))[0];
    // Within the limit and a second, on a machine that others use too.
    expect(performance.now() - start).toBeLessThan(wallMs + 2500);
    expect(bad?.ok).toBe(false);
    expect(fixture.codes).toContain(bad?.ok === false ? bad.failure.code : undefined);
    expect(valueOf((await handle.step([{ instance: ids[1], action: "wait" }]))[0]).observation).toBe("waiting");
    await handle.close();
  });

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
