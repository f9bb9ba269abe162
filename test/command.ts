import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, vi } from "vitest";
import { mergeInputs } from "../src/config/merge.ts";
import { descendantsOf, isRunning } from "../src/sandbox/test-processes.ts";
import type { RunEvent } from "../src/selfplay/events.ts";

export const packageRoot = join(import.meta.dirname, "..");
const main = join(packageRoot, "src/cli/main.ts");

/** What a command did. */
export interface Finished {
  /** Exit code; absent when a signal ended it. */
  readonly code: number | undefined;
  readonly signal?: NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
}

/** A directory for one test file's runs, removed by `remove`. */
export function workDirectory(): { readonly path: (name: string) => string; readonly remove: () => void } {
  const root = mkdtempSync(join(tmpdir(), "spade-e2e-"));
  return { path: (name) => join(root, name), remove: () => rmSync(root, { recursive: true }) };
}

/** Writes the tests' smallest configuration, with changes, and returns its path. */
export function writeConfig(path: string, changes: unknown = {}): string {
  const tiny: unknown = JSON.parse(readFileSync(join(import.meta.dirname, "tiny.json"), "utf8"));
  writeFileSync(path, JSON.stringify(mergeInputs(tiny, changes)));
  return path;
}

/** A copy of a run that nobody writes. */
export function copyRun(from: string, to: string): string {
  cpSync(from, to, { recursive: true });
  return to;
}

/** Runs `spade` with these words to its end. */
export function spade(...words: readonly string[]): Promise<Finished> {
  return finish(spawn(process.execPath, [main, ...words], { cwd: packageRoot, stdio: ["ignore", "pipe", "pipe"] }));
}

/** Runs `spade` in a shell after `setup` (limits of the shell apply to it). */
export function spadeInShell(setup: string, ...words: readonly string[]): Promise<Finished> {
  return finish(spawn("bash", ["-c", `${setup}; exec "$0" "$@"`, process.execPath, main, ...words], { cwd: packageRoot, stdio: ["ignore", "pipe", "pipe"] }));
}

/** Events of a finished `spade train --json`. */
export function eventsOf({ stdout }: Finished): RunEvent[] {
  return stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as RunEvent);
}

/** Record digest that a finished `spade train --json` printed. */
export function digestOf(finished: Finished): string {
  const end = eventsOf(finished).findLast((event) => event.kind === "end");
  if (end === undefined) throw new Error(`The run did not end: ${finished.stderr}`);
  return end.digest;
}

/**
 * Runs `spade train --json`, holds it when `isMoment` says so (asked at every event), calls `whileHeld`, kills it with SIGKILL, and
 * makes sure that nothing is left of it. Returns the events seen and the descendants that it had.
 */
export async function killAt(words: readonly string[], isMoment: (event: RunEvent) => boolean | Promise<boolean>, whileHeld?: () => Promise<void>): Promise<{ readonly events: readonly RunEvent[]; readonly descendants: readonly number[] }> {
  const child = spawn(process.execPath, [main, "train", ...words, "--json"], { cwd: packageRoot, stdio: ["ignore", "pipe", "pipe"] });
  const ended = finish(child);
  const events: RunEvent[] = [];
  let descendants: number[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const event = JSON.parse(line) as RunEvent;
    events.push(event);
    if (child.killed || !(await isMoment(event))) continue;
    if (whileHeld !== undefined) {
      process.kill(child.pid ?? 0, "SIGSTOP");
      await whileHeld();
    }
    descendants = descendantsOf(child.pid ?? 0);
    child.kill("SIGKILL");
  }
  const { code, stderr } = await ended;
  expect(code, `the run ended before its moment came: ${stderr}`).toBeUndefined();
  await vi.waitFor(() => expect(descendants.filter(isRunning), "sandbox children outlived the run").toEqual([]), { timeout: 5000 });
  return { events, descendants };
}

/** Runs `spade train --json` and sends it a signal at the first event that `isMoment` accepts. */
export async function signalAt(words: readonly string[], signal: NodeJS.Signals, isMoment: (event: RunEvent) => boolean): Promise<Finished> {
  const child = spawn(process.execPath, [main, "train", ...words, "--json"], { cwd: packageRoot, stdio: ["ignore", "pipe", "pipe"] });
  const ended = finish(child);
  for await (const line of createInterface({ input: child.stdout })) {
    if (!child.killed && isMoment(JSON.parse(line) as RunEvent)) child.kill(signal);
  }
  return await ended;
}

function finish(child: ChildProcess): Promise<Finished> {
  let [stdout, stderr] = ["", ""];
  child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString("utf8")));
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString("utf8")));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code: code ?? undefined, ...(signal === null ? {} : { signal }), stdout, stderr }));
  });
}
