import type { Config } from "../config/schema.ts";
import type { Episode } from "../core/episode.ts";
import { invariant, SpadeError } from "../core/errors.ts";
import { rowsOf, type TrainableTrajectory, type Trajectory } from "../core/trajectory.ts";
import { type Advantage, computeAdvantages, type Credit, designerWeight, integerOutcome } from "../credit/advantages.ts";
import type { MeasuredReward } from "../credit/reward.ts";
import type { TrainingRow } from "../policy/policy.ts";
import { completedPlain } from "./measure.ts";

/** A design whose window is over: its trajectory and what it earned. */
export interface PaidDesign {
  readonly id: string;
  readonly skill: string;
  readonly family: string;
  readonly trajectory: TrainableTrajectory;
  readonly reward: MeasuredReward;
}

/** One trajectory of the batch with what it was computed from. */
export interface CreditedRow {
  readonly advantage: Advantage;
  readonly weight: number;
  readonly row: TrainingRow;
}

/** Turns the outcomes of both roles into rows with advantages. Rows without signal are returned too, `kept` false. */
export function creditRows(episodes: readonly Episode[], designs: readonly PaidDesign[], config: Config): CreditedRow[] {
  const plays = completedPlain(episodes);
  const credits: Credit[] = [
    ...plays.map(({ episode, value }) => ({ role: "agent" as const, id: episode.id, environmentId: episode.environmentId, outcome: integerOutcome(value), value })),
    ...designs.map(({ id, skill, family, reward }) => ({ role: "designer" as const, id, skill, family, reward: reward.reward })),
  ];
  const advantages = computeAdvantages(credits, config.advantages);
  const counts = { agentRows: advantages.filter(({ role, kept }) => role === "agent" && kept).length, designerRows: designs.length };
  const { designerWeightFactor: factor, designerWeightCap: cap } = config.update;
  const weights = { agent: 1, designer: designerWeight(counts, { delay: config.design.regenerateEvery, factor, cap }) };
  const trajectories = [...plays.map(({ episode }) => plainRow(episode.trajectory)), ...designs.map((design) => design.trajectory)];
  const temperatures = { agent: config.play.sampling.temperature, designer: config.design.sampling.temperature };
  return advantages.map((advantage, i) => {
    const trajectory = trajectories[i];
    invariant(trajectory?.role === advantage.role, "an advantage belongs to the trajectory of its own role");
    const weight = weights[advantage.role];
    return { advantage, weight, row: { trajectory, advantage: advantage.advantage, weight, temperature: temperatures[advantage.role] } };
  });
}

/**
 * The rows that enter the batch. A trajectory whose template rewrote its history gives several, each with the episode's advantage:
 * the loss is a mean over sampled tokens, so they weigh what one row would. A row in which nothing was sampled is left out.
 * @throws SpadeError policy.textOnly
 */
export function batchRows(rows: readonly CreditedRow[]): TrainingRow[] {
  return rows
    .filter(({ advantage }) => advantage.kept && advantage.advantage !== 0)
    .map(refuseText)
    .flatMap(({ row }) => rowsOf(row.trajectory).map((trajectory) => ({ ...row, trajectory })))
    .filter(({ trajectory }) => trajectory.segments.some(({ kind }) => kind === "sampled"));
}

/** What was sampled as text has no tokens to train on. @throws SpadeError policy.textOnly */
function refuseText(credited: CreditedRow): CreditedRow {
  if (credited.row.trajectory.segments.length > 0) return credited;
  throw new SpadeError("policy.textOnly", `${credited.advantage.id} was sampled by a policy that gives text without token ids, so it cannot be trained on. Train with policy.kind "tinker" or "embedded"; endpoints that give text serve spade design, rollout and evaluate.`);
}

function plainRow(trajectory: Trajectory): TrainableTrajectory {
  const { role, arm, segments } = trajectory;
  invariant(arm === "plain", "hint-arm trajectories are never trained on (invariant 7)");
  return { role, arm, segments };
}
