import { wilson } from "../../credit/statistics.ts";

/** A share with its 95 % Wilson interval. */
export interface Share {
  readonly count: number;
  readonly n: number;
  /** Absent when there are no cases. */
  readonly rate?: number;
  readonly low?: number;
  readonly high?: number;
}

/** The share of `count` among `n`. */
export function shareOf(count: number, n: number): Share {
  if (n === 0) return { count, n };
  const [low, high] = wilson(count, n);
  return { count, n, rate: count / n, low, high };
}
