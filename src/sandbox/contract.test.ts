import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSandbox, type ObservedSandbox } from "./pool.ts";
import { createOne, failureOf, openProgram, openTestSandbox, trace, valueOf } from "./test-sandbox.ts";
import { dialects } from "./testing/dialects.ts";

/** More than a child keeps live of a TypeScript program. */
const crowd = 40;
let sandbox: ObservedSandbox;

beforeAll(async () => {
  sandbox = await openTestSandbox({ maxInstances: 64, memoryLimitBytes: 48 * 2 ** 20 }, 2);
});
afterAll(() => sandbox.close());

describe.each(dialects)("$language", (dialect) => {
  const { language, guess, healthy, shaped, returns } = dialect;

  describe("contract", () => {
    test("create, step, solution, reset, release, close", async () => {
      const handle = await openProgram(sandbox, guess);
      expect(handle.facts).toMatchObject({ entry: "Guess", hasSolution: true, maxTurns: 3, stateVariables: dialect.guessVariables });
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
      const [handle, other] = [await openProgram(sandbox, guess), await openProgram(sandbox, guess)];
      const { instance } = await createOne(handle, 1);
      for (const wrong of [instance + 1, -1, 0.5, NaN]) {
        await expect(handle.step([{ instance: wrong, action: "1" }])).rejects.toMatchObject({ code: "sandbox.unknown-instance" });
      }
      await expect(other.solution([instance])).rejects.toMatchObject({ code: "sandbox.unknown-instance" });
      await handle.release([instance]);
      await expect(handle.reset([{ instance, seed: 1 }])).rejects.toMatchObject({ code: "sandbox.unknown-instance" });
      await expect(handle.create([1.5])).rejects.toMatchObject({ code: "sandbox.seed" });
      await expect(handle.create(Array.from({ length: 65 }, (_, i) => i))).rejects.toMatchObject({ code: "sandbox.too-many-instances" });
      await expect(sandbox.open({ language, source: guess }, { lane: 7 })).rejects.toMatchObject({ code: "sandbox.lane" });
      await handle.close();
      await expect(handle.create([1])).rejects.toMatchObject({ code: "sandbox.closed" });
      await other.close();
    });

    test("a failed create has no id and leaves room", async () => {
      const handle = await openProgram(sandbox, shaped({ reset: dialect.failsWhenOdd }));
      const results = await handle.create([0, 1, 2]);
      expect(results.map((result) => result.ok)).toEqual([true, false, true]);
      expect(results[1]).toMatchObject({ failure: { code: "raise", message: expect.stringContaining("odd") as string } });
      await handle.close();
    });

    test("observations of up to the limit pass, answers longer than one message too", async () => {
      const handle = await openProgram(sandbox, shaped({ reset: `return ${dialect.repeat("é", 16384)}`, step: returns(dialect.repeat("x", 16384)) }));
      const created = await handle.create(Array.from({ length: 60 }, (_, i) => i));
      const calls = created.map((result) => ({ instance: valueOf(result).instance, action: "a" }));
      const steps = await handle.step([...calls, ...calls, ...calls]);
      expect(steps.every((result) => valueOf(result).observation.length === 16384)).toBe(true);
      expect(await failureOf(sandbox, shaped({ reset: `return ${dialect.repeat("x", 16385)}` }))).toMatchObject({ code: "output" });
      await handle.close();
    });

    test("odd text survives", async () => {
      const handle = await openProgram(sandbox, shaped({ step: returns("action") }));
      const { instance } = await createOne(handle, 1);
      const odd = ["", "\0", "é✓😀", "\r\n\t", '"}{\\', "x".repeat(10_000), "\ud800"];
      const steps = await handle.step(odd.map((action) => ({ instance, action })));
      expect(steps.map((result) => valueOf(result).observation)).toEqual([...odd.slice(0, -1), "\ufffd"]);
      await handle.close();
    });
  });

  describe("values at the border", () => {
    test("true as a reward becomes 1 with a warning", async () => {
      const handle = await openProgram(sandbox, shaped({ step: returns("'ok'", { reward: dialect.true }) }));
      const { instance } = await createOne(handle, 0);
      expect(valueOf((await handle.step([{ instance, action: "" }]))[0])).toMatchObject({ reward: 1, warnings: [`reward ${dialect.true} taken as 1`] });
      await handle.close();
    });

    test.each(dialect.badRewards)("reward %s is refused by name", async (reward, named) => {
      expect(await failureOf(sandbox, shaped({ step: returns("'ok'", { reward }) }), ["a"])).toMatchObject({ code: "protocol", message: expect.stringContaining(named) as string });
    });

    test.each(dialect.badSteps)("step: %s is refused", async (step, named) => {
      expect(await failureOf(sandbox, shaped({ step }), ["a"])).toMatchObject({ code: "protocol", message: expect.stringContaining(named) as string });
    });

    test.each(dialect.badResets)("reset: %s is refused", async (reset) => {
      expect(await failureOf(sandbox, shaped({ reset }))).toMatchObject({ code: "protocol" });
    });

    test.each(dialect.solutions)("solution: %s", async (solution, expected) => {
      const handle = await openProgram(sandbox, shaped({ solution }));
      const { instance } = await createOne(handle, 0);
      expect(valueOf((await handle.solution([instance]))[0])).toEqual(expected);
      await handle.close();
    });

    test.each([...dialect.badSolutions, undefined])("solution: %s is refused", async (solution) => {
      const handle = await openProgram(sandbox, shaped(solution === undefined ? {} : { solution }));
      expect(handle.facts.hasSolution).toBe(solution !== undefined);
      const { instance } = await createOne(handle, 0);
      expect((await handle.solution([instance]))[0]).toMatchObject({ ok: false, failure: { code: "protocol" } });
      await handle.close();
    });
  });

  describe("isolation and determinism", () => {
    test("instances share neither state nor chance, live or parked, in any lane and beside other programs", async () => {
      const [handle, elsewhere, noise] = [await openProgram(sandbox, healthy, 0), await openProgram(sandbox, healthy, 1), await openProgram(sandbox, guess, 1)];
      const solo = await trace(handle, 3);
      const others = (await handle.create(Array.from({ length: crowd }, (_, i) => i))).map((result) => valueOf(result).instance);
      expect(await trace(handle, 3, () => handle.step(others.map((instance) => ({ instance, action: "noise" }))))).toEqual(solo);
      const { instance } = await createOne(noise, 1);
      expect(await trace(elsewhere, 3, () => noise.step([{ instance, action: "1" }]))).toEqual(solo);
      await Promise.all([handle, elsewhere, noise].map((one) => one.close()));
    });

    test("fuel is exact: the same loop ends in the same way in every instance, lane, history and company", async () => {
      const { perCall, from, to, by } = dialect.fuel;
      const short = await openTestSandbox({ fuelPerCall: perCall }, 2);
      const outcomes = async (lane: number, warm: number, company: number): Promise<string[]> => {
        const codes: string[] = [];
        for (let n = from; n <= to && codes.at(-1) !== "fuel"; n += by) {
          const handle = await openProgram(short, shaped({ step: dialect.loop }), lane);
          await handle.create(Array.from({ length: company }, (_, i) => i));
          const { instance } = await createOne(handle, 0);
          for (let i = 0; i < warm; i++) await handle.step([{ instance, action: String(37 * i) }]);
          const result = (await handle.step([{ instance, action: String(n) }]))[0];
          codes.push(result?.ok === false ? result.failure.code : "ok");
          await handle.close();
        }
        return codes;
      };
      const cold = await outcomes(0, 0, 0);
      expect(new Set(cold)).toEqual(new Set(["ok", "fuel"]));
      expect(await outcomes(1, 3, crowd)).toEqual(cold);
      await short.close();
    });

    test("any interleaving of calls on two instances equals the calls made alone", async () => {
      const handle = await openProgram(sandbox, healthy, 0);
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
        { numRuns: 20 },
      );
      await handle.close();
    });
  });
});

test("a sandbox refuses impossible options", async () => {
  await expect(openSandbox({ lanes: 0 })).rejects.toMatchObject({ code: "sandbox.lanes" });
  await expect(openSandbox({ lanes: 1, limits: { fuelPerCall: -1 } })).rejects.toMatchObject({ code: "sandbox.limits" });
});
