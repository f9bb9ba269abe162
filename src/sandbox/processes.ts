import { readFileSync, writeFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { monotonicClock } from "../core/clock.ts";

const pageBytes = 4096;
/** Linux counts processor time in hundredths of a second for whoever asks. */
const tickMs = 10;
const lowestPriority = 19;

/** Resident memory of a process and its descendants in bytes, where the platform tells it (Linux), else 0. */
export function residentBytesOf(pid: number | undefined): number {
  try {
    const own = Number(readFileSync(`/proc/${String(pid)}/statm`, "utf8").split(" ")[1]) * pageBytes;
    return own + childrenOf(pid).reduce((sum, child) => sum + residentBytesOf(child), 0);
  } catch {
    return 0;
  }
}

/** Processor time that a process and its descendants have used, where the platform tells it (Linux); else a clock, which never runs slower. */
export function processorMsOf(pid: number | undefined): number {
  if (process.platform !== "linux") return monotonicClock();
  try {
    const status = readFileSync(`/proc/${String(pid)}/stat`, "utf8");
    // After the name in brackets come the third field, the state, and so on; the 14th and 15th are the ticks.
    const fields = status.slice(status.lastIndexOf(")") + 2).split(" ");
    const own = tickMs * (Number(fields[11]) + Number(fields[12]));
    return own + childrenOf(pid).reduce((sum, child) => sum + processorMsOf(child), 0);
  } catch {
    return 0;
  }
}

/**
 * Lets others go before a process and its descendants when the processors are busy, for the rest of their lives. Where it has ended already, or the
 * platform has no priorities, nothing changes. `niceness`, 1 to 19, is beyond that of this process.
 */
export function giveWay(pid: number | undefined, niceness: number): void {
  if (pid === undefined) return;
  attempt(() => setPriority(pid, Math.min(lowestPriority, getPriority() + niceness)));
  // Where Linux shares processors out by session first, the priority of a process counts only within its own.
  attempt(() => writeFileSync(`/proc/${pid}/autogroup`, String(niceness), { flag: "r+" }));
  for (const child of childrenOf(pid)) giveWay(child, niceness);
}

function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // Tried only.
  }
}

/** A child wrapped in bubblewrap is the grandchild of what was spawned. Empty where the kernel does not list children. */
function childrenOf(pid: number | undefined): number[] {
  try {
    return readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, "utf8").split(" ").filter((part) => part !== "").map(Number);
  } catch {
    return [];
  }
}
