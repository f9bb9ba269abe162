import { fileURLToPath } from "node:url";
import type { Language } from "../core/environment.ts";
import type { GuestResult, InstanceId, Limits, ProgramHandle, Sandbox } from "./sandbox.ts";
import { openSandbox, type ObservedSandbox } from "./pool.ts";

/** The checkout's own cache. */
export const testCache = fileURLToPath(new URL("../../node_modules/.cache/spade-rl", import.meta.url));

/** A sandbox for tests, with its image in the checkout's own cache. */
export function openTestSandbox(limits: Partial<Limits> = {}, lanes = 1): Promise<ObservedSandbox> {
  return openSandbox({ lanes, limits, cacheDirectory: testCache });
}

/** The value of a result that must be a success. */
export function valueOf<T>(result: GuestResult<T> | undefined): T {
  if (result?.ok !== true) throw new Error(`expected a value, got ${JSON.stringify(result)}`);
  return result.value;
}

/** Opens a program that must load; one that exports something is TypeScript. */
export async function openProgram(sandbox: Sandbox, source: string, lane?: number): Promise<ProgramHandle> {
  return valueOf(await sandbox.open({ language: languageOf(source), source }, lane === undefined ? {} : { lane }));
}

/** The language of a test program: one that exports something is TypeScript. */
export function languageOf(source: string): Language {
  return /\bexport (?:default|class|const|\{)/.test(source) ? "typescript" : "python";
}

/** Creates one instance that must start. */
export async function createOne(handle: ProgramHandle, seed: number): Promise<{ readonly instance: InstanceId; readonly observation: string }> {
  return valueOf((await handle.create([seed]))[0]);
}

/** Code and message of whatever failure a program shows: on load, on create, or at a step. */
export async function failureOf(sandbox: Sandbox, source: string, actions: readonly string[] = []): Promise<{ code: string; message: string } | undefined> {
  const opened = await sandbox.open({ language: languageOf(source), source });
  if (!opened.ok) return opened.failure;
  const handle = opened.value;
  try {
    const created = (await handle.create([0]))[0];
    if (created?.ok !== true) return created?.failure;
    const { instance } = created.value;
    for (const action of actions) {
      const result = (await handle.step([{ instance, action }]))[0];
      if (result?.ok === false) return result.failure;
    }
    return undefined;
  } finally {
    await handle.close();
  }
}

/** One episode's observations, over six turns; steps of other instances may come in between. */
export async function trace(handle: ProgramHandle, seed: number, between?: () => Promise<unknown>): Promise<string[]> {
  const { instance, observation } = await createOne(handle, seed);
  const seen = [observation];
  for (let turn = 0; turn < 6; turn++) {
    await between?.();
    seen.push(valueOf((await handle.step([{ instance, action: `a${turn}` }]))[0]).observation);
  }
  await handle.release([instance]);
  return seen;
}
