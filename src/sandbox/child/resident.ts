/** The system is asked at most this often: the question costs as much as a step. */
const intervalMs = 20;

let known = 0;
let askedMs = -Infinity;

/** Resident memory of this process in bytes, not older than a few milliseconds. */
export function residentBytes(): number {
  const nowMs = performance.now();
  if (nowMs - askedMs > intervalMs) {
    known = process.memoryUsage.rss();
    askedMs = nowMs;
  }
  return known;
}
