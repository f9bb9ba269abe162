import { isWin } from "../core/episode.ts";
import { invariant } from "../core/errors.ts";
import { mean, populationDeviation } from "./statistics.ts";

/** A plain episode that completed. Failed and hint-arm episodes are not credited. */
export interface AgentCredit {
  readonly role: "agent";
  readonly id: string;
  readonly environmentId: string;
  /** Whole-numbered outcome (`integerOutcome`); decides alone whether a group carries signal. */
  readonly outcome: number;
  /** What advantages are computed from: the return, or a shaped return. */
  readonly value: number;
}

/** A design whose reward was measured. */
export interface DesignerCredit {
  readonly role: "designer";
  readonly id: string;
  readonly skill: string;
  /** Kind of program, for the penalty on its share; for example the digest of its skeleton. */
  readonly family: string;
  readonly reward: number;
}

export type Credit = AgentCredit | DesignerCredit;

/** Advantage of one credited trajectory. `kept` is false for groups without signal: their rows must not enter the batch (advantage 0). */
export interface Advantage {
  readonly role: Credit["role"];
  readonly id: string;
  readonly advantage: number;
  readonly kept: boolean;
}

export interface AdvantageOptions {
  /** Weight c of the penalty on a design's reward: c * max(0, share of its family - 1 / families seen). 0 switches it off. */
  readonly familyPenalty: number;
}

/**
 * Advantages of one iteration, in the order of `credits`; the only place where they are computed (invariant 3).
 * Agent: z-score within the environment's group; groups whose outcomes are all equal are dropped. Designer: reward minus the mean over
 * designs of the same skill, not divided by a deviation. Roles never share a statistic. Source: algorithm, section 4.
 */
export function computeAdvantages(credits: readonly Credit[], options: AdvantageOptions): readonly Advantage[] {
  const agents = credits.filter((credit) => credit.role === "agent");
  const designers = credits.filter((credit) => credit.role === "designer");
  const byCredit = new Map<Credit, Advantage>();
  for (const group of groupBy(agents, (credit) => credit.environmentId)) {
    const values = agentGroup(group);
    group.forEach((credit, i) => byCredit.set(credit, { role: "agent", id: credit.id, advantage: values?.[i] ?? 0, kept: values !== undefined }));
  }
  const paid = penalised(designers, options.familyPenalty);
  for (const group of groupBy(designers, (credit) => credit.skill)) {
    const rewards = group.map((credit) => paid.get(credit) ?? credit.reward);
    const baseline = orderFreeMean(rewards);
    group.forEach((credit, i) => byCredit.set(credit, { role: "designer", id: credit.id, advantage: (rewards[i] ?? 0) - baseline, kept: true }));
  }
  return credits.map((credit) => {
    const advantage = byCredit.get(credit);
    invariant(advantage !== undefined, "every credit has an advantage");
    return advantage;
  });
}

/** Z-scores of a group, or undefined when it carries no signal. */
function agentGroup(group: readonly AgentCredit[]): readonly number[] | undefined {
  for (const { id, outcome, value } of group) {
    invariant(Number.isInteger(outcome), `the outcome of episode ${id} is a whole number (got ${outcome})`);
    invariant(Number.isFinite(value), `the value of episode ${id} is finite (got ${value})`);
  }
  if (group.every((credit) => credit.outcome === group[0]?.outcome)) return undefined;
  const values = group.map((credit) => credit.value);
  const sorted = ascending(values);
  const centre = mean(sorted);
  const deviation = populationDeviation(sorted);
  return deviation === 0 ? undefined : values.map((value) => (value - centre) / deviation);
}

function penalised(designers: readonly DesignerCredit[], weight: number): ReadonlyMap<DesignerCredit, number> {
  const counts = new Map<string, number>();
  for (const { family } of designers) counts.set(family, (counts.get(family) ?? 0) + 1);
  return new Map(
    designers.map((credit) => {
      invariant(Number.isFinite(credit.reward), `the reward of design ${credit.id} is finite (got ${credit.reward})`);
      const excess = Math.max(0, (counts.get(credit.family) ?? 0) / designers.length - 1 / counts.size);
      return [credit, credit.reward - weight * excess];
    }),
  );
}

/** Whole-numbered outcome of a return in [-1, 1]: 1 for a win, -1 below -0.5, else 0. */
export function integerOutcome(value: number): number {
  if (isWin(value)) return 1;
  return value < -0.5 ? -1 : 0;
}

/**
 * Weight of a designer row relative to an agent row: min(cap, agent rows / designer rows * k * factor), because designs are rarer. The paper's factor is 1.
 * 1 when either role has no rows: there is nothing to be relative to. Source: algorithm, section 4.
 */
export function designerWeight(counts: { readonly agentRows: number; readonly designerRows: number }, options: { readonly delay: number; readonly factor: number; readonly cap: number }): number {
  return counts.designerRows === 0 || counts.agentRows === 0 ? 1 : Math.min(options.cap, (counts.agentRows / counts.designerRows) * options.delay * options.factor);
}

function groupBy<T>(items: readonly T[], key: (item: T) => string): readonly T[][] {
  return [...Map.groupBy(items, key).values()];
}

/** Sums in ascending order, so that permuting the input changes no bit of the result. */
function orderFreeMean(values: readonly number[]): number {
  return mean(ascending(values));
}

function ascending(values: readonly number[]): number[] {
  return [...values].sort((a, b) => a - b);
}
