import { hostileFixtures, type HostileFixture, patientFixtures } from "../fixtures.ts";
import type { Limits, ProgramHandle, Sandbox } from "../sandbox.ts";
import { createOne, openProgram, valueOf } from "../test-sandbox.ts";
import { hostileTypeScript } from "../typescript-fixtures.ts";

/** Limits under which hostile programs are told apart; all fixtures reach them. */
export const hostileLimits: Partial<Limits> = { fuelPerCall: 100_000, fuelPerEpisode: 250_000, wallMsPerCall: 1000, memoryLimitBytes: 48 * 2 ** 20 };

/** Every hostile program of both languages. */
export const allHostile: readonly HostileFixture[] = [...hostileFixtures, ...patientFixtures, ...hostileTypeScript.map((fixture) => ({ ...fixture, name: `${fixture.name} (TypeScript)` }))];

/** How a hostile program ended. */
export interface Provoked {
  readonly name: string;
  /** Failure code; `none` when it never failed. */
  readonly code: string;
  readonly isRight: boolean;
  /** Of its slowest call, waiting included. */
  readonly slowestMs: number;
}

/** Runs a hostile program until it fails, in a lane. */
export async function provoke(sandbox: Sandbox, { name, codes, source, turns = 1 }: HostileFixture, lane: number): Promise<Provoked> {
  const handle = await openProgram(sandbox, source, lane);
  const { instance } = await createOne(handle, 1);
  for (let i = 0; i < 3; i++) await handle.step([{ instance, action: "wait" }]);
  let code = "none";
  let slowestMs = 0;
  for (let turn = 0; turn < turns && code === "none"; turn++) {
    const start = performance.now();
    const result = (await handle.step([{ instance, action: "now" }]))[0];
    slowestMs = Math.max(slowestMs, performance.now() - start);
    if (result?.ok === false) ({ code } = result.failure);
  }
  await handle.close();
  return { name, code, isRight: (codes as readonly string[]).includes(code), slowestMs };
}

/** Plays an episode of twelve turns of each seed on each handle at the same time; what was observed, by handle and seed. */
export function playHealthy(handles: readonly ProgramHandle[], seeds: readonly number[]): Promise<string[][][]> {
  return Promise.all(handles.map((handle) => Promise.all(seeds.map((seed) => playOne(handle, seed)))));
}

async function playOne(handle: ProgramHandle, seed: number): Promise<string[]> {
  const { instance, observation } = await createOne(handle, seed);
  const seen = [observation];
  for (let turn = 0; turn < 12; turn++) seen.push(JSON.stringify(valueOf((await handle.step([{ instance, action: `go${turn}` }]))[0])));
  await handle.release([instance]);
  return seen;
}
