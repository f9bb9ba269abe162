import { readFileSync } from "node:fs";

const pageBytes = 4096;

/** Resident memory of a process and its descendants in bytes, where the platform tells it (Linux), else 0. */
export function residentBytesOf(pid: number | undefined): number {
  try {
    const own = Number(readFileSync(`/proc/${String(pid)}/statm`, "utf8").split(" ")[1]) * pageBytes;
    return own + childrenOf(pid).reduce((sum, child) => sum + residentBytesOf(child), 0);
  } catch {
    return 0;
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
