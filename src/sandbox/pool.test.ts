import { readFileSync, rmSync, mkdtempSync, writeFileSync, chmodSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sha256 } from "../core/digest.ts";
import { healthySource } from "./fixtures.ts";
import { ensureImage } from "./image.ts";
import { openSandbox, type ObservedSandbox } from "./pool.ts";
import type { ProgramHandle } from "./sandbox.ts";
import { createOne, failureOf, openProgram, openTestSandbox, valueOf } from "./test-sandbox.ts";

let sandbox: ObservedSandbox;

beforeAll(async () => {
  sandbox = await openTestSandbox({ maxInstances: 64, memoryLimitBytes: 48 * 2 ** 20 }, 2);
});
afterAll(() => sandbox.close());

const guess = `
class Guess(TextGame):
    max_turns = 3
    def reset(self, seed=None):
        self.secret = self.start(seed).randint(1, 100)
        return self.show("Guess a number from 1 to 100.")
    def step(self, action):
        if not action.isdigit():
            return self.tell("Not a number.")
        return self.judge(action, self.secret) if same(action, self.secret) else self.tell("higher" if int(action) < self.secret else "lower")
    def solution(self):
        return self.secret
`;

/** A class whose methods are given. */
function shaped(reset: string, step = "return 'x', 0.0, False, False, {}", rest = ""): string {
  return `class Game:\n    def reset(self, seed=None):\n        ${reset}\n    def step(self, action):\n        ${step}\n${rest}`;
}

describe("contract", () => {
  test("create, step, solution, reset, release, close", async () => {
    const handle = await openProgram(sandbox, guess);
    expect(handle.facts).toMatchObject({ entry: "Guess", hasSolution: true, maxTurns: 3, stateVariables: 1 });
    expect(handle.facts.strings).toContain("Guess a number from 1 to 100.");
    const { instance, observation } = await createOne(handle, 7);
    expect(observation).toBe("Guess a number from 1 to 100.");
    const [action] = valueOf((await handle.solution([instance]))[0]) as [string];
    expect(action).toMatch(/^\d+$/);
    expect(valueOf((await handle.step([{ instance, action: "0" }]))[0])).toEqual({ observation: "higher", reward: 0, terminated: false, truncated: false, warnings: [] });
    expect(valueOf((await handle.step([{ instance, action }]))[0])).toMatchObject({ observation: "Correct.", reward: 1, terminated: true });
    valueOf((await handle.reset([{ instance, seed: 8 }]))[0]);
    const results = await handle.step(["a", "b", "c"].map((wrong) => ({ instance, action: wrong })));
    expect(results.map((result) => valueOf(result).truncated)).toEqual([false, false, true]);
    await handle.release([instance, 999]);
    await handle.close();
    await handle.close();
  });

  test("misuse throws", async () => {
    const handle = await openProgram(sandbox, guess);
    const other = await openProgram(sandbox, guess);
    const { instance } = await createOne(handle, 1);
    for (const wrong of [instance + 1, -1, 0.5, NaN]) {
      await expect(handle.step([{ instance: wrong, action: "1" }])).rejects.toMatchObject({ code: "sandbox.unknown-instance" });
    }
    await expect(other.solution([instance])).rejects.toMatchObject({ code: "sandbox.unknown-instance" });
    await handle.release([instance]);
    await expect(handle.reset([{ instance, seed: 1 }])).rejects.toMatchObject({ code: "sandbox.unknown-instance" });
    await expect(handle.create([1.5])).rejects.toMatchObject({ code: "sandbox.seed" });
    await expect(handle.create(Array.from({ length: 65 }, (_, i) => i))).rejects.toMatchObject({ code: "sandbox.too-many-instances" });
    await expect(sandbox.open({ language: "python", source: guess }, { lane: 7 })).rejects.toMatchObject({ code: "sandbox.lane" });
    await handle.close();
    await expect(handle.create([1])).rejects.toMatchObject({ code: "sandbox.closed" });
    await other.close();
    await expect(openSandbox({ lanes: 0 })).rejects.toMatchObject({ code: "sandbox.lanes" });
    await expect(openSandbox({ lanes: 1, limits: { fuelPerCall: -1 } })).rejects.toMatchObject({ code: "sandbox.limits" });
  });

  test("a failed create has no id and leaves room", async () => {
    const handle = await openProgram(sandbox, shaped("assert seed % 2 == 0, 'odd'\n        return 'even'"));
    const results = await handle.create([0, 1, 2]);
    expect(results.map((result) => result.ok)).toEqual([true, false, true]);
    expect(results[1]).toMatchObject({ failure: { code: "raise", message: expect.stringContaining("odd") as string } });
    await handle.close();
  });

  test("observations of up to the limit pass, answers longer than one message too", async () => {
    const handle = await openProgram(sandbox, shaped("return 'é' * 16384", "return 'x' * 16384, 0, False, False, {}"));
    const created = await handle.create(Array.from({ length: 60 }, (_, i) => i));
    const calls = created.map((result) => ({ instance: valueOf(result).instance, action: "a" }));
    const steps = await handle.step([...calls, ...calls, ...calls]);
    expect(steps.every((result) => valueOf(result).observation.length === 16384)).toBe(true);
    expect(await failureOf(sandbox, shaped("return 'x' * 16385"))).toMatchObject({ code: "output" });
    await handle.close();
  });

  test("odd text survives", async () => {
    const handle = await openProgram(sandbox, shaped("return 'ready'", "return action, 0, False, False, {}"));
    const { instance } = await createOne(handle, 1);
    const odd = ["", "\0", "é✓😀", "\r\n\t", '"}{\\', "x".repeat(10000)];
    const steps = await handle.step(odd.map((action) => ({ instance, action })));
    expect(steps.map((result) => valueOf(result).observation)).toEqual(odd);
    const lone = valueOf((await handle.step([{ instance, action: "\ud800" }]))[0]).observation;
    expect(lone).toBe("\ufffd");
    await handle.close();
  });
});

describe("values at the border", () => {
  const numpy = "class S:\n    def __init__(self, v): self.v = v\n    def item(self): return self.v\n";

  test("T9: numpy-like scalars and any info are accepted", async () => {
    const handle = await openProgram(sandbox, numpy + shaped("return 'ready', {}", "return 'ok', S(1), S(True), S(False), {'a': S(.5), 'b': [0, 1], 'c': {1, 2}}"));
    const { instance } = await createOne(handle, 0);
    expect(valueOf((await handle.step([{ instance, action: "" }]))[0])).toEqual({ observation: "ok", reward: 1, terminated: true, truncated: false, warnings: [] });
    await handle.close();
  });

  test("True as a reward becomes 1 with a warning", async () => {
    const handle = await openProgram(sandbox, shaped("return 'ready'", "return 'ok', True, False, False, {}"));
    const { instance } = await createOne(handle, 0);
    expect(valueOf((await handle.step([{ instance, action: "" }]))[0])).toMatchObject({ reward: 1, warnings: ["reward True taken as 1"] });
    await handle.close();
  });

  test.each([
    ["float('nan')", "nan"],
    ["float('inf')", "inf"],
    ["-float('inf')", "-inf"],
    ["1e308 * 10", "inf"],
    ["10.5", "10.5"],
    ["10 ** 400", "1000"],
    ["'1'", "'1'"],
    ["None", "None"],
  ])("reward %s is refused by name", async (reward, named) => {
    const failure = await failureOf(sandbox, shaped("return 'ready'", `return 'ok', ${reward}, False, False, {}`), ["a"]);
    expect(failure?.code).toBe("protocol");
    expect(failure?.message).toContain(named);
  });

  test.each([
    ["return 'x', 0.0, True, {}", "4 values"],
    ["return 'x'", "expected 5 values"],
    ["return 'x', 0.0, 1, False, {}", "terminated"],
    ["return 'x', 0.0, False, None, {}", "truncated"],
    ["return 'x', 0.0, False, False, None", "info"],
    ["return None, 0.0, False, False, {}", "observation"],
  ])("step: %s is refused", async (step, named) => {
    const failure = await failureOf(sandbox, shaped("return 'ready'", step), ["a"]);
    expect(failure).toMatchObject({ code: "protocol", message: expect.stringContaining(named) as string });
  });

  test("reset must give text", async () => {
    expect(await failureOf(sandbox, shaped("return None"))).toMatchObject({ code: "protocol" });
    expect(await failureOf(sandbox, shaped("return 'a', {}, 1"))).toMatchObject({ code: "protocol" });
  });

  test.each([
    ["return [1, 2.5, 'a b']", ["1", "2.5", "a b"]],
    ["return 'one'", ["one"]],
    ["return 42", ["42"]],
    ["return ['so \\\\boxed{4} it is', '\\\\boxed{{1,2}}', '\\\\boxed{open']", ["4", "{1,2}", "\\boxed{open"]],
    ["return []", []],
  ])("solution: %s", async (body, expected) => {
    const handle = await openProgram(sandbox, shaped("return 'ready'", undefined, `    def solution(self):\n        ${body}\n`));
    const { instance } = await createOne(handle, 0);
    expect(valueOf((await handle.solution([instance]))[0])).toEqual(expected);
    await handle.close();
  });

  test.each(["return None", "return {'a'}", "return [None]", "return [['a']]"])("solution: %s is refused", async (body) => {
    const handle = await openProgram(sandbox, shaped("return 'ready'", undefined, `    def solution(self):\n        ${body}\n`));
    const { instance } = await createOne(handle, 0);
    expect((await handle.solution([instance]))[0]).toMatchObject({ ok: false, failure: { code: "protocol" } });
    await handle.close();
  });

  test("a program without solution", async () => {
    const handle = await openProgram(sandbox, shaped("return 'ready'"));
    expect(handle.facts.hasSolution).toBe(false);
    const { instance } = await createOne(handle, 0);
    expect((await handle.solution([instance]))[0]).toMatchObject({ ok: false, failure: { code: "protocol" } });
    await handle.close();
  });
});

/** One episode's observations; steps of other instances may come in between. */
async function trace(handle: ProgramHandle, seed: number, turns: number, between?: () => Promise<unknown>): Promise<string[]> {
  const { instance, observation } = await createOne(handle, seed);
  const seen = [observation];
  for (let turn = 0; turn < turns; turn++) {
    await between?.();
    seen.push(valueOf((await handle.step([{ instance, action: `a${turn}` }]))[0]).observation);
  }
  return seen;
}

describe("isolation and determinism", () => {
  test("interleaved instances share neither class state nor the global random source", async () => {
    const handle = await openProgram(sandbox, healthySource, 0);
    const solo = await trace(handle, 3, 5);
    const others = (await handle.create([4, 5])).map((result) => valueOf(result).instance);
    const disturb = () => handle.step(others.map((instance) => ({ instance, action: "noise" })));
    expect(await trace(handle, 3, 5, disturb)).toEqual(solo);
    await handle.close();
  });

  test("lanes agree, also when other programs run in between", async () => {
    const first = await openProgram(sandbox, healthySource, 0);
    const second = await openProgram(sandbox, healthySource, 1);
    const noise = await openProgram(sandbox, guess, 0);
    const { instance } = await createOne(noise, 1);
    const disturb = () => noise.step([{ instance, action: "1" }]);
    expect(await trace(first, 9, 6, disturb)).toEqual(await trace(second, 9, 6));
    await Promise.all([first, second, noise].map((handle) => handle.close()));
  });

  test("hash order of text is fixed and ids of objects do not matter across children", async () => {
    const source = shaped("return ' '.join({str(i) for i in range(50)})");
    const lanes = await Promise.all([0, 1].map((lane) => openProgram(sandbox, source, lane)));
    const seen = await Promise.all(lanes.map((handle) => createOne(handle, 1)));
    expect(seen[0]!.observation).toBe(seen[1]!.observation);
    await Promise.all(lanes.map((handle) => handle.close()));
  });

  test("unseeded randomness differs from one reset to the next, and is the same in every instance", async () => {
    const handle = await openProgram(sandbox, shaped("import random, time, os\n        return f'{random.random()} {time.time()} {os.urandom(4)}'"));
    const [a, b] = await handle.create([1, 1]);
    expect(valueOf(a).observation).toBe(valueOf(b).observation);
    const again = valueOf((await handle.reset([{ instance: valueOf(a).instance, seed: 1 }]))[0]);
    const [x, y] = [valueOf(a).observation.split(" "), again.observation.split(" ")];
    for (const i of [0, 1, 2]) expect(y[i]).not.toBe(x[i]);
    await handle.close();
  });

  test("fuel is exact: the same loop ends in the same way in every instance, lane and history", async () => {
    const short = await openTestSandbox({ fuelPerCall: 200 }, 2);
    const source = shaped("return 'ready'", "for _ in range(int(action)): pass\n        return 'x', 0, False, False, {}");
    const outcomes = async (lane: number, warm: number): Promise<string[]> => {
      const codes: string[] = [];
      for (let n = 9000; n <= 10_500; n += 75) {
        const handle = await openProgram(short, source, lane);
        const { instance } = await createOne(handle, 0);
        for (let i = 0; i < warm; i++) await handle.step([{ instance, action: String(37 * i) }]);
        const result = (await handle.step([{ instance, action: String(n) }]))[0];
        codes.push(result?.ok === false ? result.failure.code : "ok");
        await handle.close();
      }
      return codes;
    };
    const cold = await outcomes(0, 0);
    expect(new Set(cold)).toEqual(new Set(["ok", "fuel"]));
    expect(await outcomes(1, 3)).toEqual(cold);
    await short.close();
  });

  test("any interleaving of calls on two instances equals the calls made alone", async () => {
    const handle = await openProgram(sandbox, healthySource, 0);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 10 }), fc.nat(1000), async (order, seed) => {
        const ids = (await handle.create([seed, seed])).map((result) => valueOf(result).instance) as [number, number];
        const turns = [0, 0];
        const seen: [string[], string[]] = [[], []];
        const calls = order.map((which) => ({ instance: ids[Number(which)]!, action: `t${turns[Number(which)]!++}` }));
        const results = await handle.step(calls);
        results.forEach((result, i) => seen[Number(order[i])]!.push(valueOf(result).observation));
        const shorter = Math.min(seen[0].length, seen[1].length);
        await handle.release(ids);
        return JSON.stringify(seen[0].slice(0, shorter)) === JSON.stringify(seen[1].slice(0, shorter));
      }),
      { numRuns: 20 },
    );
    await handle.close();
  });
});

describe("image", () => {
  test("is verified, rebuilt when damaged, and its build is deterministic", async () => {
    const directory = mkdtempSync(join(tmpdir(), "spade-image-"));
    const first = await ensureImage(directory);
    expect(sha256(readFileSync(first.path))).toBe(first.sha256);
    const bytes = readFileSync(first.path);
    bytes[1000] = (bytes[1000] ?? 0) ^ 1;
    writeFileSync(first.path, bytes);
    const second = await ensureImage(directory);
    expect(second).toEqual(first);
    expect(sha256(readFileSync(second.path))).toBe(first.sha256);
    rmSync(directory, { recursive: true });
  });

  test("a directory that cannot be written is named", async () => {
    const directory = mkdtempSync(join(tmpdir(), "spade-image-"));
    const file = join(directory, "file");
    writeFileSync(file, "");
    chmodSync(file, 0o444);
    await expect(openSandbox({ lanes: 1, cacheDirectory: join(file, "cache") })).rejects.toMatchObject({ code: "sandbox.image", message: expect.stringContaining(file) as string });
    rmSync(directory, { recursive: true });
  });
});
