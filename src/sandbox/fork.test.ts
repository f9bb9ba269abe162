import fc from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { ObservedSandbox } from "./pool.ts";
import type { Fork, InstanceId, ProgramHandle } from "./sandbox.ts";
import { createOne, openProgram, openTestSandbox, valueOf } from "./test-sandbox.ts";

/** State where copying and pickling fail: a running generator, an open iterator, identities, unseeded randomness, a module's attribute. */
const source = `
import random, math, os, time

def walk(rng):
    place = 0
    while True:
        place += rng.randint(-9, 9)
        action = yield f"{place} {random.random():.6f}"
        if action == "jump":
            place = 1000

class Cave:
    def reset(self, seed=None):
        self.rng = random.Random(seed)
        self.walk = walk(self.rng)
        self.letters = iter("abcdefghijklmnopqrstuvwxyz" * 9)
        self.seen = {}
        random.seed(seed)
        return next(self.walk), {}
    def step(self, action):
        if action == "hang":
            sum(range(10 ** 12))
        self.seen[object()] = action
        text = f"{self.walk.send(action)} {next(self.letters)} {len(self.seen)} {os.urandom(2).hex()} {time.time()}"
        return text, len(self.seen) / 10, len(self.seen) > 40, False, {}
`;

/** The same class, but its state is in a module that all instances share: a replay cannot know what others did to it. */
const shared = `
import math
class Counter:
    def reset(self, seed=None):
        return "ready"
    def step(self, action):
        math.count = getattr(math, "count", 0) + 1
        return str(math.count), 0.0, False, False, {}
`;

vi.setConfig({ testTimeout: 120_000 });
const onward = ["left", "jump", "right", "up", "jump", "down"];
let sandbox: ObservedSandbox;
let handle: ProgramHandle;
let elsewhere: ProgramHandle;

beforeAll(async () => {
  sandbox = await openTestSandbox({ wallMsPerCall: 1000 }, 2);
  [handle, elsewhere] = await Promise.all([openProgram(sandbox, source, 0), openProgram(sandbox, source, 1)]);
});
afterAll(() => sandbox.close());

async function play(on: ProgramHandle, instance: InstanceId, actions: readonly string[]): Promise<string[]> {
  const steps: string[] = [];
  for (const action of actions) steps.push(JSON.stringify(valueOf((await on.step([{ instance, action }]))[0])));
  return steps;
}

/** A fork after some turns, and how the original goes on. */
async function forked(turns: number, seed = 5): Promise<{ readonly fork: Fork; readonly expected: string[]; readonly instance: InstanceId }> {
  const [reference, subject] = [await createOne(handle, seed), await createOne(handle, seed)];
  const before = Array.from({ length: turns }, (_, i) => `turn ${i}`);
  await play(handle, reference.instance, before);
  await play(handle, subject.instance, before);
  const fork = valueOf(await handle.fork(subject.instance));
  return { fork, instance: subject.instance, expected: await play(handle, reference.instance, onward) };
}

/** A fork as it comes out of storage, without the exact state or with one of another image. */
const withoutState = ({ programId, calls, spent }: Fork): Fork => JSON.parse(JSON.stringify({ programId, calls, spent })) as Fork;
const ofOtherImage = (fork: Fork): Fork => ({ ...fork, state: { ...fork.state!, image: "0".repeat(64) } });

test("what is restored plays on as the original would have, also when the original went another way", async () => {
  const { fork, expected, instance } = await forked(4);
  expect(fork.state?.bytes.length).toBeGreaterThan(0);
  await play(handle, instance, ["jump", "other", "jump"]);
  const restored = await handle.restore(fork);
  expect(await play(handle, restored, onward)).toEqual(expected);
  const again = await handle.restore(fork);
  await handle.release([restored, instance]);
  expect(await play(handle, again, onward)).toEqual(expected);
});

test("a fork is plain data and restores in another child and in another sandbox", async () => {
  const { fork, expected } = await forked(3);
  const stored = JSON.parse(JSON.stringify(fork)) as Fork;
  expect(await play(elsewhere, await elsewhere.restore(stored), onward)).toEqual(expected);
  const other = await openTestSandbox({ wallMsPerCall: 1000 });
  const there = await openProgram(other, source);
  expect(await play(there, await there.restore(stored), onward)).toEqual(expected);
  await other.close();
});

test("without a usable state, seed and actions are replayed, in any child", async () => {
  const { fork, expected } = await forked(3);
  for (const portable of [withoutState(fork), ofOtherImage(fork), { ...fork, state: { ...fork.state!, bytes: "AAAA" } }]) {
    for (const on of [handle, elsewhere]) expect(await play(on, await on.restore(portable), onward)).toEqual(expected);
  }
});

test("a state above maxForkBytes is left out", async () => {
  const small = await openTestSandbox({ maxForkBytes: 100 });
  const on = await openProgram(small, source);
  const { instance } = await createOne(on, 5);
  await play(on, instance, ["turn 0"]);
  const fork = valueOf(await on.fork(instance));
  expect(fork.state).toBeUndefined();
  expect(fork.calls).toEqual([{ op: "create", arg: 5 }, { op: "step", arg: "turn 0" }]);
  expect(await play(on, await on.restore(fork), onward)).toEqual(await play(on, instance, onward));
  await small.close();
});

test("the state is exact where a replay is not: it holds what the program's other instances did", async () => {
  const on = await openProgram(sandbox, shared, 0);
  const there = await openProgram(sandbox, shared, 1);
  const [a, b] = [(await createOne(on, 0)).instance, (await createOne(on, 0)).instance];
  const count = async (from: ProgramHandle, instance: InstanceId): Promise<string> => valueOf((await from.step([{ instance, action: "" }]))[0]).observation;
  await count(on, b);
  expect(await count(on, a)).toBe("2");
  const fork = valueOf(await on.fork(a));
  expect(await count(on, b)).toBe("3");
  expect(await count(on, b)).toBe("4");
  for (const from of [on, there]) expect(await count(from, await from.restore(fork))).toBe("3");
  expect(await count(on, a)).toBe("5");
  expect(await count(there, await there.restore(withoutState(fork)))).toBe("2");
  await Promise.all([on.close(), there.close()]);
});

test("forks of forks, and forks that outlive their child", async () => {
  const { fork, expected } = await forked(2);
  const restored = await handle.restore(fork);
  await play(handle, restored, onward.slice(0, 2));
  const second = valueOf(await handle.fork(restored));
  expect(second.calls).toHaveLength(5);
  const victim = await createOne(handle, 1);
  expect((await handle.step([{ instance: victim.instance, action: "hang" }]))[0]).toMatchObject({ ok: false, failure: { code: "timeout" } });
  expect(await play(handle, restored, onward.slice(2))).toEqual(expected.slice(2));
  expect(await play(handle, await handle.restore(second), onward.slice(2))).toEqual(expected.slice(2));
  expect(await handle.fork(victim.instance)).toMatchObject({ ok: false, failure: { code: "timeout" } });
});

test("a fork of another program, of an unknown instance or on a closed handle is misuse", async () => {
  const { fork } = await forked(1);
  const other = await openProgram(sandbox, shared);
  await expect(other.restore(fork)).rejects.toMatchObject({ code: "sandbox.fork" });
  await expect(other.fork(77)).rejects.toMatchObject({ code: "sandbox.unknown-instance" });
  await other.close();
  await expect(other.restore(fork)).rejects.toMatchObject({ code: "sandbox.closed" });
});

test("any play, forked at any turn and restored in any way, is the same play", async () => {
  const actions = fc.array(fc.constantFrom("left", "jump", "x"), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(fc.nat(999), actions, actions, fc.constantFrom("exact", "portable"), async (seed, before, after, how) => {
      const [one, two] = (await handle.create([seed, seed])).map((result) => valueOf(result).instance) as [number, number];
      await play(handle, one, before);
      await play(handle, two, before);
      const fork = valueOf(await handle.fork(one));
      await play(handle, one, ["jump", "left"]);
      const expected = await play(handle, two, after);
      const from = seed % 2 === 0 ? handle : elsewhere;
      const restored = await from.restore(how === "exact" ? fork : withoutState(fork));
      expect(await play(from, restored, after)).toEqual(expected);
      await Promise.all([handle.release([one, two]), from.release([restored])]);
    }),
    { numRuns: 15 },
  );
});
