/** What `speed.ts` measures: each function gives pairs of one measure, ours and native, on the same program and actions. */
import { createHash } from "node:crypto";
import { deriveSeed } from "../src/core/seed.ts";
import { admit } from "../src/gates/admit.ts";
import { defaultGates } from "../src/gates/config.ts";
import type { GoodProgram } from "../src/gates/good-bank.ts";
import { openSandbox, type ObservedSandbox } from "../src/sandbox/pool.ts";
import { residentBytesOf } from "../src/sandbox/processes.ts";
import type { GuestResult, InstanceId, Limits, ProgramHandle, Sandbox, StepValue } from "../src/sandbox/sandbox.ts";
import { openProgram, valueOf } from "../src/sandbox/test-sandbox.ts";
import { type Cost, costOf, share } from "./cost.ts";
import { type ActionList, NativeHarness } from "./native.ts";

/** One program measured on both sides, one right after the other. */
export interface Pair {
  readonly ours: Cost;
  readonly native: Cost;
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
/** On a busy machine a call may wait for seconds: no limit of wall time may end one here. */
const patient: Partial<Limits> = { wallMsPerCall: 120_000, wallMsPerEpisode: 600_000, wallMsPerStart: 300_000 };

/** A sandbox of one lane. */
export function openPatientSandbox(cacheDirectory?: string): Promise<ObservedSandbox> {
  return openSandbox({ lanes: 1, limits: patient, ...(cacheDirectory === undefined ? {} : { cacheDirectory }) });
}

/** Measures taken of one program in one round: what one start or one step took. */
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
  const load = await costOf(sandbox.pids(), () => openProgram(sandbox, source));
  const handle = load.value;
  try {
    await harness.add(file, source, handle.facts.entry);
    const plays = await drawPlays(handle);
    const few = plays.slice(0, singlePlays);
    const batched = await paired(sides, () => playBatched(handle, plays, sandbox), () => harness.steps(file, "batched", plays));
    const direct = await harness.steps(file, "direct", plays);
    const single = await paired(sides, () => playSingly(handle, few, sandbox), () => harness.steps(file, "single", few));
    const starts = await paired(sides, () => startCosts(handle, neighbour, sandbox), () => harness.load(file, startRepeats));
    const perStep = (pair: Pair, played: readonly ActionList[]): Pair => ({ ours: share(pair.ours, stepsOf(played)), native: share(pair.native, stepsOf(played)) });
    const start = (ours: Cost): Pair => ({ ours, native: starts.native });
    return {
      batchedStep: perStep(batched, plays),
      singleStep: perStep(single, few),
      batchedAgainstDirect: perStep({ ours: batched.ours, native: direct }, plays),
      load: start(load),
      startOne: start(starts.ours.one),
      startInGroup: start(starts.ours.inGroup),
      startAfterSwitch: start(starts.ours.afterSwitch),
      isSame: batched.ours.value === batched.native.digest,
    };
  } finally {
    await handle.close();
  }
}

function stepsOf(plays: readonly ActionList[]): number {
  return plays.reduce((sum, { actions }) => sum + actions.length, 0);
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

type Played = Cost & { readonly value: string };

function playBatched(handle: ProgramHandle, plays: readonly ActionList[], sandbox: ObservedSandbox): Promise<Played> {
  return played(handle, plays, sandbox, (instances) => playRounds(handle, instances, plays.map(({ actions }) => actions)));
}

function playSingly(handle: ProgramHandle, plays: readonly ActionList[], sandbox: ObservedSandbox): Promise<Played> {
  return played(handle, plays, sandbox, async (instances) => {
    const records: StepValue[][] = [];
    for (const [i, { actions }] of plays.entries()) {
      const record: StepValue[] = [];
      for (const action of actions) record.push(...valuesOf((await handle.step([{ instance: instances[i] ?? 0, action }]))[0]));
      records.push(record);
    }
    return records;
  });
}

async function played(handle: ProgramHandle, plays: readonly ActionList[], sandbox: ObservedSandbox, play: (instances: readonly InstanceId[]) => Promise<StepValue[][]>): Promise<Played> {
  const instances = await createMany(handle, plays.length);
  const { value, ...cost } = await costOf(sandbox.pids(), () => play(instances));
  await handle.release(instances);
  const lines = value.flat().map(({ observation, reward, terminated, truncated }) => [observation, reward.toFixed(6), terminated, truncated].join("\t"));
  return { ...cost, value: createHash("sha256").update(lines.join("\n")).digest("hex") };
}

/** What it takes until a new episode's first observation is there. */
async function startCosts(handle: ProgramHandle, neighbour: ProgramHandle, sandbox: ObservedSandbox): Promise<{ readonly one: Cost; readonly inGroup: Cost; readonly afterSwitch: Cost }> {
  await handle.release(await createMany(handle, 1));
  const startsOf = async (count: number, before?: () => Promise<void>): Promise<Cost> => {
    const total = { wallMs: 0, cpuMs: 0 };
    for (let i = 0; i < startRepeats; i++) {
      await before?.();
      const { value, wallMs, cpuMs } = await costOf(sandbox.pids(), () => createMany(handle, count));
      total.wallMs += wallMs;
      total.cpuMs += cpuMs;
      await handle.release(value);
    }
    return share(total, count * startRepeats);
  };
  return { one: await startsOf(1), inGroup: await startsOf(groupSize), afterSwitch: await startsOf(1, async () => neighbour.release(await createMany(neighbour, 1))) };
}

/** All gates on a program, beside one load on the native side and beside the gates' own steps there, without a pool. */
export interface GatePairs {
  readonly againstLoad: Pair;
  readonly againstSteps: Pair;
  /** Steps that the gates made. */
  readonly steps: number;
}

/** All gates on a program of the good bank, beside one load of the native side. */
export async function measureGates({ file, program, document, profile }: GoodProgram, sides: Sides): Promise<GatePairs> {
  const { sandbox, harness } = sides;
  const candidate = { id: file, text: program.source, extraction: { ok: true, program, repairs: [] }, document } as const;
  const judge = (by: Sandbox) => admit(candidate, { sandbox: by, config: { ...defaultGates, profile, wallMsPerGate: 600_000 }, seed: deriveSeed(1, "speed") });
  const { recording, plays } = recorder(sandbox);
  const { facts, record } = await judge(recording);
  await harness.add(file, program.source, facts?.entry ?? "");
  if (record.verdict !== "admitted") throw new Error(`${file} was not admitted: the time of all gates cannot be taken.`);
  const againstLoad = await paired(sides, () => costOf(sandbox.pids(), () => judge(sandbox)), () => harness.load(file, startRepeats));
  const direct = await harness.steps(file, "direct", plays);
  return { againstLoad, againstSteps: { ours: againstLoad.ours, native: direct }, steps: stepsOf(plays) };
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

/** Bytes that running instances take beyond the first: ours in the sandbox's child, natively in the harness. Each in a fresh process. */
export async function measureMemory({ file, source }: Subject, options: { readonly instances: number; readonly python: string; readonly cacheDirectory?: string }): Promise<{ readonly ours: number; readonly native: number }> {
  const { instances, python, cacheDirectory } = options;
  const sandbox = await openPatientSandbox(cacheDirectory);
  const harness = await NativeHarness.start(python);
  try {
    const handle = await openProgram(sandbox, source);
    // Not measured: what the child compiles the first time.
    await handle.release(await createMany(handle, groupSize));
    await createMany(handle, 1);
    const before = residentOf(sandbox);
    await createMany(handle, instances);
    const ours = residentOf(sandbox) - before;
    await harness.add(file, source, handle.facts.entry);
    await harness.load(file, 1);
    return { ours, native: await harness.memory(file, instances) };
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
