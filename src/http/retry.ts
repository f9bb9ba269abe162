import type { Rng } from "../core/seed.ts";

/** When a failed request is repeated, and how long is waited before. */
export interface RetryPolicy {
  /** Repetitions after failures; a server that asks to wait (429) does not use them up. */
  readonly retries: number;
  /** Delay before the first repetition; doubles each time. */
  readonly baseMs: number;
  readonly maxMs: number;
  /** A server's Retry-After beyond this is cut to it. */
  readonly maxRetryAfterMs: number;
  /** No repetition starts later than this after the first attempt. */
  readonly patienceMs: number;
}

/** Half a second doubling to ten, for at most five minutes. */
export const defaultRetry: RetryPolicy = { retries: 10, baseMs: 500, maxMs: 10_000, maxRetryAfterMs: 60_000, patienceMs: 300_000 };

/** Delay before repetition `attempt` (from 0): exponential, with a random factor in [0.75, 1]. */
export function backoffMs(attempt: number, policy: RetryPolicy, rng: Rng): number {
  return Math.min(policy.maxMs, policy.baseMs * 2 ** attempt) * (0.75 + 0.25 * rng.float());
}

/** What a response's `retry-after-ms` or `retry-after` (seconds, or a date compared with the response's own `date`) asks for. */
export function retryAfterMs(headers: Headers): number | undefined {
  const milliseconds = positive(headers.get("retry-after-ms"));
  if (milliseconds !== undefined) return milliseconds;
  const text = headers.get("retry-after");
  const seconds = positive(text);
  if (seconds !== undefined) return seconds * 1000;
  const [until, now] = [Date.parse(text ?? ""), Date.parse(headers.get("date") ?? "")];
  return until >= now ? until - now : undefined;
}

function positive(text: string | null): number | undefined {
  const value = text === null || text.trim() === "" ? NaN : Number(text);
  return value >= 0 && Number.isFinite(value) ? value : undefined;
}
