/** What `speed.ts` measures: each function gives pairs of one measure, ours and native, on the same program and actions. */
import { createHash } from "node:crypto";
import { monotonicClock } from "../src/core/clock.ts";
import { deriveSeed } from "../src/core/seed.ts";
import { admit } from "../src/gates/admit.ts";
import { defaultGates } from "../src/gates/config.ts";
import type { GoodProgram } from "../src/gates/good-bank.ts";
import { openSandbox, type ObservedSandbox } from "../src/sandbox/pool.ts";
import { residentBytesOf } from "../src/sandbox/processes.ts";
import type { GuestResult, InstanceId, ProgramHandle, Sandbox, StepValue } from "../src/sandbox/sandbox.ts";
import { createOne, openProgram, valueOf } from "../src/sandbox/test-sandbox.ts";
import { type ActionList, NativeHarness } from "./native.ts";

/** One program measured on both sides, one right after the other. */
export interface Pair {
  readonly ours: number;
  readonly native: number;
}

/** Both sides, and which of them goes first this time. */
export interface Sides {
  readonly sandbox: ObservedSandbox;
  readonly harness: NativeHarness;
  readonly oursFirst: boolean;
}

/** A program of the banks, known to the harness under its file's name. */
export interface Subject {
  readonly file: string;
  readonly source: string;
}

const batch = 64;
const singlePlays = 16;
const startRepeats = 5;
const groupSize = 16;
const noise = ["1", "look"];

/** Measures taken of one program in one round. Times in milliseconds of one start or step, except where the name says otherwise. */
export interface ProgramPairs {
  readonly batchedStep: Pair;
  readonly singleStep: Pair;
  /** Ours batched, the native side without its pool of threads: what is left of native speed. */
  readonly batchedAgainstDirect: Pair;
  readonly load: Pair;
  readonly startOne: Pair;
  readonly startInGroup: Pair;
  readonly startAfterSwitch: Pair;
  /** Whether both sides observed the same. */
  readonly isSame: boolean;
}

/** Starts and steps of one program. `neighbour` is another loaded program. */
export async function measureProgram({ file, source }: Subject, neighbour: ProgramHandle, sides: Sides): Promise<ProgramPairs> {
  const { sandbox, harness } = sides;
  const begin = monotonicClock();
  const handle = await openProgram(sandbox, source);
  const loadMs = monotonicClock() - begin;
  try {
    await harness.add(file, source, handle.facts.entry);
    const plays = await drawPlays(handle);
    const steps = plays.reduce((sum, { actions }) => sum + actions.length, 0);
    const few = plays.slice(0, singlePlays);
    const fewSteps = few.reduce((sum, { actions }) => sum + actions.length, 0);
    const batched = await paired(sides, () => playBatched(handle, plays), () => harness.steps(file, "batched", plays));
    const direct = await harness.steps(file, "direct", plays);
    const single = await paired(sides, () => playSingly(handle, few), () => harness.steps(file, "single", few));
    const starts = await paired(sides, () => startTimes(handle, neighbour), async () => 1000 * median(await harness.loads(file, startRepeats)));
    const perStep = ({ seconds }: { readonly seconds: number }, count: number): number => (1000 * seconds) / count;
    const start = (ours: number): Pair => ({ ours, native: starts.native });
    return {
      batchedStep: { ours: perStep(batched.ours, steps), native: perStep(batched.native, steps) },
      singleStep: { ours: perStep(single.ours, fewSteps), native: perStep(single.native, fewSteps) },
      batchedAgainstDirect: { ours: perStep(batched.ours, steps), native: perStep(direct, steps) },
      load: start(loadMs),
      startOne: start(starts.ours.one),
      startInGroup: start(starts.ours.inGroup),
      startAfterSwitch: start(starts.ours.afterSwitch),
      isSame: batched.ours.digest === batched.native.digest,
    };
  } finally {
    await handle.close();
  }
}

async function paired<Ours, Native>({ oursFirst }: Sides, ours: () => Promise<Ours>, native: () => Promise<Native>): Promise<{ ours: Ours; native: Native }> {
  if (oursFirst) return { ours: await ours(), native: await native() };
  const first = await native();
  return { ours: await ours(), native: first };
}

/** Whole episodes: the program's solution on every second seed, with noise before it on the others, cut where the episode ends. */
async function drawPlays(handle: ProgramHandle): Promise<ActionList[]> {
  const instances = await createMany(handle, batch);
  const solutions = await handle.solution(instances);
  const wanted = solutions.map((solution, i) => [...(i % 2 === 0 ? [] : noise), ...(solution.ok ? solution.value : [])]);
  const records = await playRounds(handle, instances, wanted);
  await handle.release(instances);
  return wanted.map((actions, seed) => {
    const end = records[seed]?.findIndex(({ terminated, truncated }) => terminated || truncated) ?? -1;
    return { seed, actions: end < 0 ? actions : actions.slice(0, end + 1) };
  });
}

async function createMany(handle: ProgramHandle, count: number): Promise<InstanceId[]> {
  const created = await handle.create(Array.from({ length: count }, (_, seed) => seed));
  return created.map((result) => valueOf(result).instance);
}

/** Round after round, a step of every instance that has an action left. A failed call ends its record. */
async function playRounds(handle: ProgramHandle, instances: readonly InstanceId[], actions: readonly (readonly string[])[]): Promise<StepValue[][]> {
  const records: StepValue[][] = instances.map(() => []);
  for (let turn = 0; ; turn++) {
    const going = instances.flatMap((instance, i) => {
      const action = actions[i]?.[turn];
      return action === undefined ? [] : [{ i, instance, action }];
    });
    if (going.length === 0) return records;
    const results = await handle.step(going.map(({ instance, action }) => ({ instance, action })));
    going.forEach(({ i }, at) => records[i]?.push(...valuesOf(results[at])));
  }
}

function valuesOf(result: GuestResult<StepValue> | undefined): StepValue[] {
  return result?.ok === true ? [result.value] : [];
}

interface Played {
  readonly seconds: number;
  readonly digest: string;
}

async function playBatched(handle: ProgramHandle, plays: readonly ActionList[]): Promise<Played> {
  return played(handle, plays, (instances) => playRounds(handle, instances, plays.map(({ actions }) => actions)));
}

async function playSingly(handle: ProgramHandle, plays: readonly ActionList[]): Promise<Played> {
  return played(handle, plays, async (instances) => {
    const records: StepValue[][] = [];
    for (const [i, { actions }] of plays.entries()) {
      const record: StepValue[] = [];
      for (const action of actions) record.push(...valuesOf((await handle.step([{ instance: instances[i] ?? 0, action }]))[0]));
      records.push(record);
    }
    return records;
  });
}

async function played(handle: ProgramHandle, plays: readonly ActionList[], play: (instances: readonly InstanceId[]) => Promise<StepValue[][]>): Promise<Played> {
  const instances = await createMany(handle, plays.length);
  const start = monotonicClock();
  const records = await play(instances);
  const seconds = (monotonicClock() - start) / 1000;
  await handle.release(instances);
  const lines = records.flat().map(({ observation, reward, terminated, truncated }) => [observation, reward.toFixed(6), terminated, truncated].join("\t"));
  return { seconds, digest: createHash("sha256").update(lines.join("\n")).digest("hex") };
}

/** Milliseconds until a new episode's first observation is there, medians. */
async function startTimes(handle: ProgramHandle, neighbour: ProgramHandle): Promise<{ readonly one: number; readonly inGroup: number; readonly afterSwitch: number }> {
  await createOne(handle, 0).then(({ instance }) => handle.release([instance]));
  const one = await startsOf(handle, 1, () => Promise.resolve());
  const inGroup = await startsOf(handle, groupSize, () => Promise.resolve());
  const afterSwitch = await startsOf(handle, 1, async () => neighbour.release(await createMany(neighbour, 1)));
  return { one, inGroup, afterSwitch };
}

async function startsOf(handle: ProgramHandle, count: number, before: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < startRepeats; i++) {
    await before();
    const start = monotonicClock();
    const instances = await createMany(handle, count);
    times.push((monotonicClock() - start) / count);
    await handle.release(instances);
  }
  return median(times);
}

/** Milliseconds of all gates on a program, and of one load on the native side; and what the gates' steps alone take there. */
export interface GatePairs {
  readonly gates: Pair;
  /** Steps that the gates made, and the milliseconds of the same steps in plain CPython without a pool. */
  readonly steps: number;
  readonly nativeStepsMs: number;
  readonly isAdmitted: boolean;
}

/** All gates on a program of the good bank, beside one load of the native side. */
export async function measureGates({ file, program, document, profile }: GoodProgram, sides: Sides): Promise<GatePairs> {
  const { sandbox, harness } = sides;
  const candidate = { id: file, text: program.source, extraction: { ok: true, program, repairs: [] }, document } as const;
  const judge = (by: Sandbox) => admit(candidate, { sandbox: by, config: { ...defaultGates, profile }, seed: deriveSeed(1, "speed") });
  const { recording, plays } = recorder(sandbox);
  const { facts, record } = await judge(recording);
  await harness.add(file, program.source, facts?.entry ?? "");
  const timed = async (): Promise<number> => {
    const start = monotonicClock();
    await judge(sandbox);
    return monotonicClock() - start;
  };
  const gates = await paired(sides, timed, async () => 1000 * median(await harness.loads(file, startRepeats)));
  const direct = await harness.steps(file, "direct", plays);
  return { gates, steps: plays.reduce((sum, { actions }) => sum + actions.length, 0), nativeStepsMs: 1000 * direct.seconds, isAdmitted: record.verdict === "admitted" };
}

/** The same sandbox, noting what is played in it. */
function recorder(sandbox: Sandbox): { readonly recording: Sandbox; readonly plays: { seed: number; actions: string[] }[] } {
  const plays: { seed: number; actions: string[] }[] = [];
  const begin = (seed: number): { seed: number; actions: string[] } => {
    const play = { seed, actions: [] };
    plays.push(play);
    return play;
  };
  const watch = (handle: ProgramHandle): ProgramHandle => {
    const current = new Map<InstanceId, { actions: string[] }>();
    const watched: Pick<ProgramHandle, "create" | "reset" | "step"> = {
      create: async (seeds, options) => {
        const results = await handle.create(seeds, options);
        results.forEach((result, i) => result.ok && current.set(result.value.instance, begin(seeds[i] ?? 0)));
        return results;
      },
      reset: (calls, options) => {
        for (const { instance, seed } of calls) current.set(instance, begin(seed));
        return handle.reset(calls, options);
      },
      step: (calls, options) => {
        for (const { instance, action } of calls) current.get(instance)?.actions.push(action);
        return handle.step(calls, options);
      },
    };
    return new Proxy(handle, { get: (target, name) => Reflect.get(name in watched ? watched : target, name) as unknown });
  };
  const open: Sandbox["open"] = async (program, options) => {
    const opened = await sandbox.open(program, options);
    return opened.ok ? { ok: true, value: watch(opened.value) } : opened;
  };
  return { recording: { lanes: sandbox.lanes, limits: sandbox.limits, open, close: () => sandbox.close() }, plays };
}

/** MiB that `count` running instances take beyond the first: ours in the sandbox's child, natively in the harness. Each in a fresh process. */
export async function measureMemory({ file, source }: Subject, options: { readonly instances: number; readonly python: string; readonly cacheDirectory?: string }): Promise<Pair> {
  const { instances: count, python, cacheDirectory } = options;
  const sandbox = await openSandbox({ lanes: 1, ...(cacheDirectory === undefined ? {} : { cacheDirectory }) });
  const harness = await NativeHarness.start(python);
  try {
    const handle = await openProgram(sandbox, source);
    await createMany(handle, 1);
    const before = residentOf(sandbox);
    await createMany(handle, count);
    const ours = residentOf(sandbox) - before;
    await harness.add(file, source, handle.facts.entry);
    await harness.loads(file, 1);
    return { ours: ours / 2 ** 20, native: (await harness.memory(file, count)) / 2 ** 20 };
  } finally {
    harness.close();
    await sandbox.close();
  }
}

function residentOf(sandbox: ObservedSandbox): number {
  return sandbox.pids().reduce((sum, pid) => sum + residentBytesOf(pid), 0);
}

/** Median of numbers. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low = NaN, high = NaN] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return (low + high) / 2;
}
