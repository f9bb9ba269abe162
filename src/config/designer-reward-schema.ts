import { z } from "zod";

const shared = {
  minEpisodesPerArm: z.int().min(1).default(4),
  timeoutReward: z.number().min(-1).max(0).default(-0.5),
};
const regretTerm = {
  regretEstimate: z.enum(["floored", "paired", "lowerBound"]).default("paired"),
  confidence: z.number().gt(0).lt(1).default(0.95),
};
const onChanceScale = { chanceCorrected: z.boolean().default(true) };
const plateauTerm = {
  low: z.number().min(0).max(1).default(0.4),
  high: z.number().min(0).max(1).default(0.6),
  ramp: z.number().min(0).max(1).default(0.25),
  stratified: z.boolean().default(true),
  ...onChanceScale,
};

/** The designer's reward, one kind at a time; meanings in `credit/reward.ts`, defaults from algorithm section 3. */
export const designerRewardSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("blend"),
    plateauWeight: z.number().min(0).default(0.6),
    regretWeight: z.number().min(0).default(0.4),
    regretScale: z.number().positive().default(0.15),
    ...plateauTerm,
    ...regretTerm,
    ...shared,
  }),
  z.strictObject({ kind: z.literal("regret"), ...regretTerm, ...shared }),
  z.strictObject({ kind: z.enum(["plateau", "solveRate"]), ...plateauTerm, ...shared }),
  z.strictObject({
    kind: z.literal("learningPotential"),
    fastRate: z.number().gt(0).max(1).default(0.3),
    slowRate: z.number().gt(0).max(1).default(0.05),
    ...shared,
  }),
  z.strictObject({ kind: z.literal("microProgress"), method: z.enum(["slope", "halves"]).default("slope"), ...shared }),
  z.strictObject({
    kind: z.literal("frontier"),
    centre: z.number().min(0).max(1).default(0.5),
    scale: z.number().positive().default(0.08),
    ...onChanceScale,
    ...shared,
  }),
  z.strictObject({ kind: z.literal("learnability"), ...onChanceScale, ...shared }),
]);
