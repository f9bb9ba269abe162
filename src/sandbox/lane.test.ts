import { getPriority } from "node:os";
import { afterEach, expect, test, vi } from "vitest";
import { monotonicClock } from "../core/clock.ts";
import { healthySource } from "./fixtures.ts";
import { slowNiceness } from "./limits.ts";
import type { ObservedSandbox } from "./pool.ts";
import type { ProgramHandle } from "./sandbox.ts";
import { isRunning } from "./test-processes.ts";
import { createOne, openProgram, openTestSandbox, valueOf } from "./test-sandbox.ts";

vi.setConfig({ testTimeout: 120_000 });
let sandbox: ObservedSandbox | undefined;
afterEach(() => sandbox?.close());

/** Loops as long as the action says: `spin` can be interrupted, `hang` only by killing the child, `slow` ends by itself. */
const slowSource = `
class Slow(TextGame):
    max_turns = 1000
    def reset(self, seed=None):
        self.start(seed)
        return self.show("ready")
    def step(self, action):
        if action == "spin":
            while True: pass
        if action == "hang":
            sum(range(10 ** 12))
        if action == "slow":
            for _ in range(2): sum(range(10 ** 6))
        return self.tell("done")
`;

/** How often a call went on in the lane of slow programs. */
function takenOver(observed: ObservedSandbox): number {
  return observed.statistics().reduce((sum, lane) => sum + lane.takenOver, 0);
}

async function episode(handle: ProgramHandle, seed: number, log?: string[]): Promise<string[]> {
  const { instance, observation } = await createOne(handle, seed);
  const seen = [observation];
  for (let turn = 0; turn < 12; turn++) seen.push(valueOf((await handle.step([{ instance, action: `go${turn}` }]))[0]).observation);
  await handle.release([instance]);
  log?.push("healthy");
  return seen;
}

/** Far more than a call's patience and the start of a child, on a machine that others use too. */
const longMs = 60_000;

test.each(["spin", "hang"])("a call that hangs (%s) does not hold up others in its lane until its limit", async (how) => {
  sandbox = await openTestSandbox({ wallMsPerCall: longMs, fuelPerCall: 10 ** 11, fuelPerEpisode: 10 ** 12 });
  const [hostile, healthy] = [await openProgram(sandbox, slowSource, 0), await openProgram(sandbox, healthySource, 0)];
  const alone = await episode(healthy, 3);
  const { instance } = await createOne(hostile, 1);
  const ends: string[] = [];
  const hanging = hostile.step([{ instance, action: how }]).then(() => ends.push("over"), () => ends.push("closed"));
  // It may be that the healthy program's turn comes first.
  do expect(await episode(healthy, 3)).toEqual(alone);
  while (takenOver(sandbox) === 0);
  expect(ends).toEqual([]);
  expect(takenOver(sandbox)).toBe(1);
  await sandbox.close();
  await hanging;
  expect(ends).toEqual(["closed"]);
});

test("a program that hangs while it is loaded holds up nobody either", async () => {
  sandbox = await openTestSandbox({ wallMsPerCall: longMs });
  const healthy = await openProgram(sandbox, healthySource, 0);
  const alone = await episode(healthy, 4);
  const opening = sandbox.open({ language: "python", source: "sum(range(10 ** 12))" }, { lane: 0 }).catch((error: unknown) => error);
  // It may be that the healthy program's turn comes first.
  do expect(await episode(healthy, 4)).toEqual(alone);
  while (takenOver(sandbox) === 0);
  expect(takenOver(sandbox)).toBe(1);
  await sandbox.close();
  expect(await opening).toMatchObject({ code: "sandbox.closed" });
});

test("a call that was taken over fails with its own code, in time, and its program stays in the slow lane", async () => {
  sandbox = await openTestSandbox({ wallMsPerCall: 4000, fuelPerCall: 10 ** 9 });
  const [hostile, healthy] = [await openProgram(sandbox, slowSource, 0), await openProgram(sandbox, healthySource, 0)];
  const alone = await episode(healthy, 3);
  const ids = (await hostile.create([1, 2, 3])).map((result) => valueOf(result).instance);
  let isOver = false;
  const beside = (async () => {
    while (!isOver) expect(await episode(healthy, 3)).toEqual(alone);
  })();
  try {
    for (const instance of ids) expect((await hostile.step([{ instance, action: "hang" }]))[0]).toMatchObject({ ok: false, failure: { code: "timeout" } });
  } finally {
    isOver = true;
    await beside;
  }
  expect(takenOver(sandbox)).toBe(1);
  // The program is remembered: opened again, it is in the slow lane from the start.
  const again = await openProgram(sandbox, slowSource, 0);
  const { instance } = await createOne(again, 1);
  const [, other] = await Promise.all([again.step([{ instance, action: "hang" }]), episode(healthy, 3)]);
  expect(other).toEqual(alone);
  expect(takenOver(sandbox)).toBe(1);
});

test.skipIf(process.platform === "win32")("a program that broke its limits is opened in a child that gives way to others", async () => {
  sandbox = await openTestSandbox({ fuelPerCall: 10_000 });
  const priorities = (observed: ObservedSandbox): number[] => observed.pids().map((pid) => getPriority(pid) - getPriority());
  for (const expected of [[0], [0, slowNiceness]]) {
    const hostile = await openProgram(sandbox, slowSource, 0);
    const { instance } = await createOne(hostile, 1);
    expect(await hostile.step([{ instance, action: "spin" }])).toMatchObject([{ ok: false, failure: { code: "fuel" } }]);
    expect(priorities(sandbox)).toEqual(expected);
    await hostile.close();
  }
});

test("a call that was taken over and ends well: the program returns and answers as if nothing had been", async () => {
  sandbox = await openTestSandbox({ wallMsPerCall: 60_000 }, 2);
  // Longer than the patience with a call, far shorter than a slow call.
  const source = slowSource.replace("range(2): sum(range(10 ** 6))", "range(20): sum(range(10 ** 6))").replace('self.tell("done")', "self.tell(str(self.rng.random()))");
  const [long, healthy, elsewhere] = [await openProgram(sandbox, source, 0), await openProgram(sandbox, healthySource, 0), await openProgram(sandbox, `${source}# never seen\n`, 1)];
  const play = async (handle: ProgramHandle): Promise<string[]> => {
    const { instance } = await createOne(handle, 7);
    const seen: string[] = [];
    for (const action of ["a", "slow", "b", "slow", "c"]) seen.push(valueOf((await handle.step([{ instance, action }]))[0]).observation);
    return seen;
  };
  const expected = await play(elsewhere);
  let isOver = false;
  const beside = (async () => {
    while (!isOver) await episode(healthy, 1);
  })();
  try {
    expect(await play(long)).toEqual(expected);
  } finally {
    isOver = true;
    await beside;
  }
  expect(takenOver(sandbox)).toBeGreaterThan(0);
});

test.runIf(process.platform === "linux")("a lane whose child died goes on in a child that is already there (Linux: /proc)", async () => {
  sandbox = await openTestSandbox({ wallMsPerCall: 4000, fuelPerCall: 10 ** 9 });
  const hang = async (name: string): Promise<void> => {
    // Each is another program: one that is known begins in the slow lane.
    const hostile = await openProgram(sandbox!, `${slowSource}# ${name}\n`, 0);
    const { instance } = await createOne(hostile, 1);
    expect((await hostile.step([{ instance, action: "hang" }]))[0]).toMatchObject({ ok: false, failure: { code: "timeout" } });
    await hostile.close();
  };
  const healthy = await openProgram(sandbox, healthySource, 0);
  const alone = await episode(healthy, 5);
  await hang("first");
  // That child is lost; from then on there is a spare one.
  await vi.waitFor(() => expect(sandbox!.pids().length).toBe(2), { timeout: 60_000 });
  const before = sandbox.pids();
  const { startMs } = sandbox.statistics()[0]!;
  await hang("second");
  expect(before.filter(isRunning)).toHaveLength(1);
  expect(await episode(healthy, 5)).toEqual(alone);
  expect(sandbox.pids()).toEqual(expect.arrayContaining(before.filter(isRunning)));
  expect(sandbox.statistics()[0]!.startMs).toBeGreaterThan(startMs);
});

test("one long batch gives way to others after each slice", async () => {
  sandbox = await openTestSandbox({ wallMsPerCall: 60_000 });
  const [slow, healthy] = [await openProgram(sandbox, slowSource, 0), await openProgram(sandbox, healthySource, 0)];
  const ids = (await slow.create(Array.from({ length: 18 }, (_, i) => i))).map((result) => valueOf(result).instance);
  const log: string[] = [];
  const batch = slow.step(ids.map((instance) => ({ instance, action: "slow" }))).then((results) => {
    log.push("batch");
    return results;
  });
  await Promise.all([episode(healthy, 1, log), batch]);
  expect((await batch).every((result) => valueOf(result).observation === "done")).toBe(true);
  expect(log).toEqual(["healthy", "batch"]);
});

test("a program keeps its turn while its caller asks again at once", async () => {
  sandbox = await openTestSandbox();
  const handles = [await openProgram(sandbox, slowSource, 0), await openProgram(sandbox, slowSource, 0)];
  const turns = 300;
  const before = sandbox.statistics()[0]!.switches;
  await Promise.all(
    handles.map(async (handle) => {
      const { instance } = await createOne(handle, 1);
      for (let turn = 0; turn < turns; turn++) valueOf((await handle.step([{ instance, action: "go" }]))[0]);
    }),
  );
  // Slices are over sooner than after many calls where others use the machine too.
  expect(sandbox.statistics()[0]!.switches - before).toBeLessThan(turns / 2);
});

test("the calls of an urgent program go before those of all others in its lane", async () => {
  sandbox = await openTestSandbox({ wallMsPerCall: 60_000 });
  const [urgent, ...others] = [valueOf(await sandbox.open({ language: "python", source: healthySource }, { lane: 0, urgent: true })), ...(await Promise.all([1, 2, 3].map(() => openProgram(sandbox as ObservedSandbox, slowSource, 0))))];
  const log: string[] = [];
  const batches = others.map(async (handle) => {
    const ids = (await handle.create(Array.from({ length: 6 }, (_, i) => i))).map((result) => valueOf(result).instance);
    await handle.step(ids.map((instance) => ({ instance, action: "slow" })));
    log.push("batch");
  });
  const episodes = async (): Promise<void> => {
    for (let i = 0; i < 8; i++) await episode(urgent, i, log);
  };
  await Promise.all([episodes(), ...batches]);
  expect(log.slice(0, 8)).toEqual(Array.from({ length: 8 }, () => "healthy"));
});

test("calls are answered by their deadline: waiting and the start of a child count", async () => {
  sandbox = await openTestSandbox({ wallMsPerCall: 3000, fuelPerCall: 10 ** 9 });
  const [busy, other] = [await openProgram(sandbox, slowSource, 0), await openProgram(sandbox, healthySource, 0)];
  const { instance } = await createOne(busy, 1);
  const spinning = busy.step([{ instance, action: "hang" }]);
  const begin = monotonicClock();
  // Another program would go on in another child; this one has to wait.
  await expect(busy.create([1], { deadlineMs: begin + 200 })).rejects.toMatchObject({ code: "sandbox.deadline" });
  expect(monotonicClock() - begin).toBeLessThan(1500);
  expect((await spinning)[0]).toMatchObject({ ok: false, failure: { code: "timeout" } });
  // The child was killed: the next one is being started.
  await expect(other.create([1], { deadlineMs: monotonicClock() + 1 })).rejects.toMatchObject({ code: "sandbox.deadline" });
  expect((await episode(other, 1)).length).toBe(13);
});

test("an episode's fuel is counted exactly, from reset to reset, however its calls are batched", async () => {
  sandbox = await openTestSandbox({ fuelPerCall: 2000, fuelPerEpisode: 5000 });
  const handle = await openProgram(sandbox, slowSource.replace('if action == "spin":', 'if action == "use":\n            for _ in range(40_000): pass\n        if action == "spin":'));
  const failsAt = async (step: (instance: number) => Promise<string[]>): Promise<number> => {
    const codes = await step((await createOne(handle, 1)).instance);
    expect(new Set(codes.slice(codes.indexOf("episode-fuel")))).toEqual(new Set(["episode-fuel"]));
    return codes.indexOf("episode-fuel");
  };
  const codeOf = (result: Awaited<ReturnType<ProgramHandle["step"]>>[number] | undefined): string => (result?.ok === false ? result.failure.code : "ok");
  const batched = await failsAt(async (instance) => (await handle.step(Array.from({ length: 12 }, () => ({ instance, action: "use" })))).map(codeOf));
  const single = await failsAt(async (instance) => {
    const codes: string[] = [];
    for (let i = 0; i < 12; i++) codes.push(codeOf((await handle.step([{ instance, action: "use" }]))[0]));
    return codes;
  });
  expect(batched).toBeGreaterThan(1);
  expect(single).toBe(batched);
  const { instance } = await createOne(handle, 1);
  for (let i = 0; i < 3 * batched; i++) {
    if (i % batched === 0) valueOf((await handle.reset([{ instance, seed: i }]))[0]);
    expect(codeOf((await handle.step([{ instance, action: "use" }]))[0])).toBe("ok");
  }
});

test("an episode's time is limited over its calls", async () => {
  sandbox = await openTestSandbox({ wallMsPerCall: 2000, wallMsPerEpisode: 2500, fuelPerCall: 10 ** 9, fuelPerEpisode: 10 ** 12 });
  const handle = await openProgram(sandbox, slowSource.replace("range(2)", "range(20)"));
  const { instance } = await createOne(handle, 1);
  const codes = (await handle.step(Array.from({ length: 12 }, () => ({ instance, action: "slow" })))).map((result) => (result.ok ? "ok" : result.failure.code));
  expect(codes.at(-1)).toMatch(/^(episode-)?timeout$/);
});

test("an action longer than the limit is misuse, named", async () => {
  sandbox = await openTestSandbox({ maxActionChars: 10 });
  const handle = await openProgram(sandbox, healthySource);
  const { instance } = await createOne(handle, 1);
  await expect(handle.step([{ instance, action: "x".repeat(11) }])).rejects.toMatchObject({ code: "sandbox.action-too-large", message: expect.stringContaining("maxActionChars") as string });
  valueOf((await handle.step([{ instance, action: "x".repeat(10) }]))[0]);
});

test.runIf(process.platform === "linux")("closing leaves no process, whatever is under way: calls, starts, a program on its way to the slow lane (Linux: /proc)", async () => {
  const own = await openTestSandbox({ wallMsPerCall: 1000, fuelPerCall: 10 ** 9 }, 2);
  const hostile = await openProgram(own, slowSource, 0);
  const healthy = await openProgram(own, healthySource, 1);
  const ids = (await hostile.create([1, 2])).map((result) => valueOf(result).instance);
  valueOf((await healthy.create([1]))[0]);
  const pids = new Set(own.pids());
  await hostile.step([{ instance: ids[0] ?? 0, action: "hang" }]);
  const left = [hostile.step([{ instance: ids[1] ?? 0, action: "hang" }]), hostile.create([5]), healthy.create([2, 3])].map((call) => call.then(() => "done", () => "rejected"));
  await vi.waitFor(() => expect(own.pids().some((pid) => !pids.has(pid))).toBe(true), { timeout: 20_000 });
  for (const pid of own.pids()) pids.add(pid);
  await own.close();
  await Promise.all(left);
  expect([...pids].filter(isRunning)).toEqual([]);
  expect(own.pids()).toEqual([]);
});
