import { readdirSync, readFileSync } from "node:fs";
import { monotonicClock } from "../src/core/clock.ts";

/** What work took: waiting included, and the processor's time of all processes that took part. On a busy machine only the latter can be compared. */
export interface Cost {
  readonly wallMs: number;
  /** NaN where the platform does not tell (it needs Linux). */
  readonly cpuMs: number;
}

/** Cost of work done by this process and others. */
export async function costOf<T>(pids: readonly number[], work: () => Promise<T>): Promise<Cost & { readonly value: T }> {
  const othersBefore = cpuMsOf(pids);
  const ownBefore = process.cpuUsage();
  const start = monotonicClock();
  const value = await work();
  const wallMs = monotonicClock() - start;
  const own = process.cpuUsage(ownBefore);
  return { value, wallMs, cpuMs: (own.user + own.system) / 1000 + cpuMsOf(pids) - othersBefore };
}

/** How long this process's main thread was ready to run and another had the processor; NaN where the platform does not tell. */
export function starvedMs(): number {
  try {
    return Number(readFileSync(`/proc/${process.pid}/task/${process.pid}/schedstat`, "utf8").split(" ")[1]) / 1e6;
  } catch {
    return NaN;
  }
}

/** One share of a cost. */
export function share({ wallMs, cpuMs }: Cost, count: number): Cost {
  return { wallMs: wallMs / count, cpuMs: cpuMs / count };
}

/** Processor time of processes, all their threads and children; NaN where the platform does not tell. */
export function cpuMsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + treeMs(pid), 0);
}

function treeMs(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const own = threads.reduce((sum, thread) => sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]) / 1e6, 0);
    const children = threads.flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter((part) => part !== ""));
    return children.reduce((sum, child) => sum + treeMs(Number(child)), own);
  } catch {
    return NaN;
  }
}
