import { existsSync } from "node:fs";
import process from "node:process";
import type { EngineSurroundings } from "../selfplay/engines.ts";
import { readVariable } from "./environment-variables.ts";

/** What a policy is opened with where there is no run to tell: notices go to the error stream. */
export const outsideRuns: EngineSurroundings = { readVariable, notice: (text) => void process.stderr.write(`${text}\n`) };

/** The first of `<root>/<name>-1`, `-2`, … that does not exist. */
export function freePath(root: string, name: string, extension = ""): string {
  for (let n = 1; ; n++) {
    const path = `${root}/${name}-${n}${extension}`;
    if (!existsSync(path)) return path;
  }
}

/**
 * Ctrl-C ends the process at once: everything committed is safe, and what was under way is made again. It ends by the signal itself
 * (a shell reports 130): an orderly exit would wait for the engine's thread, which aborts if it is stopped in the middle of a step.
 */
export function interruptible(path: string, goOn: string): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      const advice = existsSync(path) ? `nothing recorded is lost. ${goOn}` : "nothing was recorded yet.";
      process.stderr.write(`\nInterrupted; ${advice}\n`);
      process.kill(process.pid, signal);
    });
  }
}
