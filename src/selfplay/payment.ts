import type { TrainableTrajectory } from "../core/trajectory.ts";
import type { MeasuredReward } from "../credit/reward.ts";
import type { PaidDesign } from "./credit.ts";
import type { Dependencies } from "./dependencies.ts";
import { rewardOf, type Window } from "./measure.ts";
import { isLastOfWindow } from "./state.ts";
import type { SampledWindow } from "./window.ts";

/**
 * Pays the designer at the end of the window, so that the win rate is measured over all of it. Designs whose reward could
 * not be measured are not paid; rejected ones only if the configuration gives them a reward.
 */
export function payDesigns(iteration: number, window: Window, sampled: Pick<SampledWindow, "trajectories">, { config }: Dependencies): PaidDesign[] {
  if (!isLastOfWindow(iteration, window, config)) return [];
  const { invalidReward } = config.design;
  const admitted = window.environments
    .filter((entry) => entry.origin === "designed")
    .map((entry) => ({ id: entry.environment.id, skill: entry.environment.skill, family: entry.family, reward: rewardOf(entry, config) }));
  const rejected = window.rejected.map((design) => ({ ...design, reward: invalidReward === undefined ? undefined : invalid(invalidReward) }));
  const paid = [...admitted, ...rejected];
  if (paid.length === 0) return [];
  const trajectories = sampled.trajectories();
  return paid.flatMap(({ reward, ...design }) => (reward === undefined ? [] : [{ ...design, reward, trajectory: trajectories.get(design.id) ?? saidAsText }]));
}

/** Of a designer that gives text the record holds no tokens. It is paid all the same; the batch takes none of it (`policy.textOnly`). */
const saidAsText: TrainableTrajectory = { role: "designer", arm: "plain", segments: [] };

function invalid(reward: number): MeasuredReward {
  return { reward, components: { invalid: reward } };
}
