import type { Program } from "../../core/environment.ts";
import { Rng } from "../../core/seed.ts";
import type { Fork, InstanceId, ProgramHandle } from "../sandbox.ts";
import type { ObservedSandbox } from "../pool.ts";
import { valueOf } from "../test-sandbox.ts";

/** What is played: drawn at random, the same for the same seed. */
export interface DeterminismCase {
  readonly seed: number;
  readonly actions: readonly string[];
  /** The turn at which it is forked. */
  readonly forkTurn: number;
}

/** A way of playing that gave other bytes. */
export interface Difference {
  readonly program: string;
  readonly play: DeterminismCase;
  readonly way: string;
  readonly expected: readonly string[];
  readonly got: readonly string[];
}

const noise = ["", "1", "2", "7", "12", "left", "open", "look", "yes", "\\boxed{3}", "go north", "<answer>4</answer>", "é \u{1F600} \\ \" '", "x".repeat(300)];

/** Draws cases: actions are the program's own solution up to some turn, with noise between. */
export async function drawCases(handle: ProgramHandle, count: number, rng: Rng): Promise<DeterminismCase[]> {
  const seeds = Array.from({ length: count }, () => rng.int(0, 9999));
  const created = (await handle.create(seeds)).map((result) => (result.ok ? result.value.instance : undefined));
  const cases: DeterminismCase[] = [];
  for (const [i, seed] of seeds.entries()) {
    const instance = created[i];
    const solved = instance === undefined || !handle.facts.hasSolution ? undefined : (await handle.solution([instance]))[0];
    const known = solved?.ok === true ? solved.value.slice(0, 10) : [];
    const actions = known.flatMap((action) => (rng.chance(0.3) ? [rng.pick(noise), action] : [action]));
    while (actions.length < 3) actions.unshift(rng.pick(noise));
    cases.push({ seed, actions, forkTurn: rng.int(0, actions.length - 1) });
  }
  await handle.release(created.flatMap((instance) => instance ?? []));
  return cases;
}

/** What `compareWays` found. */
interface Compared {
  /** What was observed alone, by case. */
  readonly records: string[][];
  readonly differences: Difference[];
  /** Fuel of each case alone: played first, again, and in another child. NaN where it did not start. */
  readonly fuel: readonly (readonly [number, number, number])[];
}

/** Plays cases of one program in every way. `handles` are the same program, each in a child of its own. */
export async function compareWays(program: string, handles: readonly [ProgramHandle, ProgramHandle], cases: readonly DeterminismCase[]): Promise<Compared> {
  const records: string[][] = [];
  const differences: Difference[] = [];
  const fuel: [number, number, number][] = [];
  for (const [i, play] of cases.entries()) {
    const neighbour = cases[(i + 1) % cases.length] ?? play;
    const first = await playAlone(handles[0], play);
    const again = await playAlone(handles[0], play);
    const elsewhere = await playAlone(handles[1], play);
    records.push(first.texts);
    fuel.push([first.fuel, again.fuel, elsewhere.fuel]);
    const ways: Readonly<Record<string, readonly string[]>> = {
      again: again.texts,
      "in another child": elsewhere.texts,
      interleaved: await playInterleaved(handles[0], play, neighbour),
      ...(await playForked(handles, play)),
    };
    const expected = first.texts;
    for (const [way, got] of Object.entries(ways)) if (JSON.stringify(got) !== JSON.stringify(expected)) differences.push({ program, play, way, expected, got });
  }
  return { records, differences, fuel };
}

/** Opens a program in lanes 0 and 1. */
export async function openTwice(sandbox: ObservedSandbox, program: Program): Promise<[ProgramHandle, ProgramHandle]> {
  const [here, there] = await Promise.all([sandbox.open(program, { lane: 0 }), sandbox.open(program, { lane: 1 })]);
  return [valueOf(here), valueOf(there)];
}

async function begin(handle: ProgramHandle, seed: number): Promise<{ readonly instance: InstanceId | undefined; readonly text: string }> {
  const result = (await handle.create([seed]))[0];
  return { instance: result?.ok === true ? result.value.instance : undefined, text: JSON.stringify(result?.ok === true ? result.value.observation : result) };
}

async function go(handle: ProgramHandle, instance: InstanceId, actions: readonly string[]): Promise<string[]> {
  const texts: string[] = [];
  for (const action of actions) texts.push(JSON.stringify((await handle.step([{ instance, action }]))[0]));
  return texts;
}

async function playAlone(handle: ProgramHandle, { seed, actions }: DeterminismCase): Promise<{ readonly texts: string[]; readonly fuel: number }> {
  const { instance, text } = await begin(handle, seed);
  if (instance === undefined) return { texts: [text], fuel: NaN };
  const texts = [text, ...(await go(handle, instance, actions))];
  const { fuel } = handle.spent(instance);
  await handle.release([instance]);
  return { texts, fuel };
}

/** In one batch with an instance of another case and one of the same. */
async function playInterleaved(handle: ProgramHandle, play: DeterminismCase, neighbour: DeterminismCase): Promise<string[]> {
  const other = await begin(handle, neighbour.seed);
  const { instance, text } = await begin(handle, play.seed);
  const twin = await begin(handle, play.seed);
  if (instance === undefined) return [text];
  const texts = [text];
  for (const [turn, action] of play.actions.entries()) {
    const before = other.instance === undefined ? [] : [{ instance: other.instance, action: neighbour.actions[turn] ?? "1" }];
    const after = twin.instance === undefined ? [] : [{ instance: twin.instance, action: "1" }];
    texts.push(JSON.stringify((await handle.step([...before, { instance, action }, ...after]))[before.length]));
  }
  await handle.release([instance, ...[other, twin].flatMap((one) => one.instance ?? [])]);
  return texts;
}

/** Forked at a turn; the original, its exact state in both children, and its replay in the other, all go on. */
async function playForked([here, there]: readonly [ProgramHandle, ProgramHandle], { seed, actions, forkTurn }: DeterminismCase): Promise<Record<string, string[]>> {
  const { instance, text } = await begin(here, seed);
  if (instance === undefined) return {};
  const start = [text, ...(await go(here, instance, actions.slice(0, forkTurn)))];
  const forked = await here.fork(instance);
  const rest = actions.slice(forkTurn);
  const original = [...start, ...(await go(here, instance, rest))];
  await here.release([instance]);
  // A failed instance has no state to fork.
  if (!forked.ok) return { "after a refused fork": original };
  const restored = async (on: ProgramHandle, fork: Fork): Promise<string[]> => {
    const copy = await on.restore(fork);
    const texts = [...start, ...(await go(on, copy, rest))];
    await on.release([copy]);
    return texts;
  };
  const { programId, calls, spent } = valueOf(forked);
  return {
    "after a fork": original,
    restored: await restored(here, forked.value),
    "restored in another child": await restored(there, forked.value),
    "replayed in another child": await restored(there, { programId, calls, spent }),
  };
}
