import { readdirSync, readFileSync } from "node:fs";

/** Process ids of all descendants of a process (Linux; empty elsewhere). */
export function descendantsOf(ancestor: number): number[] {
  const parents = new Map<number, number>();
  for (const entry of list("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const status = readFileSync(`/proc/${entry}/stat`, "utf8");
      parents.set(Number(entry), Number(status.slice(status.lastIndexOf(")") + 2).split(" ")[1]));
    } catch {
      // Ended meanwhile.
    }
  }
  const isDescendant = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && parent !== 0 && (parent === ancestor || isDescendant(parent));
  };
  return [...parents.keys()].filter(isDescendant);
}

/** Processor time a process has used, in hundredths of a second. */
export function cpuTicks(pid: number): number {
  const status = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(status.slice(status.lastIndexOf(")") + 2).split(" ")[11]);
}

/** Whether a process exists and is not a zombie. */
export function isRunning(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    return status.slice(status.lastIndexOf(")") + 2, status.lastIndexOf(")") + 3) !== "Z";
  } catch {
    return false;
  }
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
