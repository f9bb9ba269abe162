import type { Share } from "../gates/mutants/share.ts";
import type { Estimate } from "../report/interval.ts";

/** A share or return with two decimals; a dash when it was not measurable. */
export function decimal(value: number | undefined, digits = 2): string {
  return value === undefined || !Number.isFinite(value) ? "–" : value.toFixed(digits);
}

/** An estimate as `mean [low, high]`. */
export function interval(estimate: Estimate | undefined): string {
  return estimate === undefined ? "–" : `${decimal(estimate.mean)} [${decimal(estimate.low)}, ${decimal(estimate.high)}]`;
}

/** The two ends of an interval as `[low, high]`. */
export function pair(ends: readonly [number, number] | undefined): string {
  return ends === undefined ? "–" : `[${decimal(ends[0])}, ${decimal(ends[1])}]`;
}

/** An estimate as `mean ±half`. */
export function plusMinus(estimate: Estimate | undefined): string {
  return estimate === undefined ? "–" : `${decimal(estimate.mean)} ±${decimal((estimate.high - estimate.low) / 2)}`;
}

/** A share as a percentage. */
export function percent(value: number | undefined): string {
  return value === undefined ? "–" : `${Math.round(value * 100)} %`;
}

/** A share with one decimal as a percentage. */
export function percentage(share: number | undefined): string {
  return share === undefined ? "–" : `${(share * 100).toFixed(1)} %`;
}

/** A counted share as `1 of 20 (5.0 %, 95 % interval 0.9 % to 23.6 %)`. */
export function shareText({ count, n, rate, low, high }: Share): string {
  return `${count} of ${n}${rate === undefined ? "" : ` (${percentage(rate)}, 95 % interval ${percentage(low)} to ${percentage(high)})`}`;
}

/** A duration as `1 h 02 min`, `3 min 05 s` or `12 s`. */
export function duration(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  const pad = (n: number): string => String(n).padStart(2, "0");
  if (s >= 3600) return `${Math.floor(s / 3600)} h ${pad(Math.floor((s % 3600) / 60))} min`;
  return s >= 60 ? `${Math.floor(s / 60)} min ${pad(s % 60)} s` : `${s} s`;
}

/** Rows of cells as aligned text; the first row is the heading. Numbers are not special: cells are right-aligned but in the columns `left`. */
export function table(rows: readonly (readonly string[])[], { left = [0] }: { readonly left?: readonly number[] } = {}): string {
  const widths = rows.reduce<number[]>((max, row) => row.map((cell, i) => Math.max(cell.length, max[i] ?? 0)), []);
  return rows
    .map((row) => row.map((cell, i) => (left.includes(i) ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  ").trimEnd())
    .join("\n");
}
