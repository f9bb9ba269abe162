import type { IterationMetrics } from "./iteration-metrics.ts";
import { type Estimate, meanEstimate } from "./interval.ts";

/** One measure of a run: its mean over the first and over the last fifth of the iterations, with 95 % intervals over iterations. */
export interface FifthsRow {
  readonly measure: string;
  readonly first?: Estimate;
  readonly last?: Estimate;
}

const measures: readonly { readonly name: string; readonly of: (metrics: IterationMetrics) => number | undefined }[] = [
  { name: "admitted share", of: (metrics) => metrics.admittedShare },
  { name: "r_plain", of: (metrics) => metrics.rPlain },
  { name: "r_hint", of: (metrics) => metrics.rHint },
  { name: "regret", of: (metrics) => metrics.regret?.mean },
  { name: "learnable share", of: (metrics) => metrics.learnableShare },
  { name: "too easy share", of: (metrics) => metrics.tooEasyShare },
  { name: "too hard share", of: (metrics) => metrics.tooHardShare },
  { name: "designer reward", of: (metrics) => metrics.designerReward },
  { name: "families", of: (metrics) => metrics.families },
  { name: "skills", of: (metrics) => metrics.skills },
  { name: "novel share", of: (metrics) => metrics.novelShare },
  { name: "Vendi score", of: (metrics) => metrics.vendi },
  { name: "program tokens", of: (metrics) => metrics.programTokens },
  { name: "turns", of: (metrics) => metrics.turns },
];

/** First against last fifth of a run. `extra` adds measures that are not computed from episodes, for example entropies. */
export function fifths(
  iterations: readonly IterationMetrics[],
  extra: readonly { readonly name: string; readonly values: readonly (number | undefined)[] }[] = [],
): FifthsRow[] {
  const size = Math.max(1, Math.floor(iterations.length / 5));
  const row = (measure: string, values: readonly (number | undefined)[]): FifthsRow => {
    const estimate = (part: readonly (number | undefined)[]): Estimate | undefined => meanEstimate(part.filter((value) => value !== undefined));
    const [first, last] = [estimate(values.slice(0, size)), estimate(values.slice(-size))];
    return { measure, ...(first === undefined ? {} : { first }), ...(last === undefined ? {} : { last }) };
  };
  return [...measures.map(({ name, of }) => row(name, iterations.map(of))), ...extra.map(({ name, values }) => row(name, values))];
}
