import { z } from "zod";

const count = z.int().min(1).exactOptional();
const share = z.number().min(0).max(1).exactOptional();

function gate<Limits extends z.ZodRawShape>(limits: Limits) {
  return z.strictObject({ enabled: z.boolean().exactOptional(), ...limits }).exactOptional();
}

/** Overrides of `defaultGates`, whose comments say what each limit means; the turn limit is `play.maxTurns`. */
export const gatesSchema = z.strictObject({
  profile: z.enum(["own", "foreign"]).exactOptional(),
  probeSeeds: z.int().min(2).exactOptional(),
  wallMsPerGate: count,
  grounded: gate({ minGroundedWords: z.int().min(0).exactOptional(), maxForeignShare: share }),
  shape: gate({ maxAbsoluteReward: z.number().positive().exactOptional() }),
  robustness: gate({}),
  resources: gate({}),
  determinism: gate({ seeds: count }),
  variety: gate({ minDistinct: count }),
  "pre-satisfied": gate({}),
  solvable: gate({}),
  "tool-use": gate({ seeds: count, minDistractors: z.int().min(0).exactOptional() }),
  necessary: gate({ minNecessarySteps: count, maxOtherSeedWinRate: share }),
  "not-trivial": gate({ maxWinRate: share, finalists: count, finalSeeds: count }),
  leak: gate({ maxShare: share, longTokens: count, freshSeeds: count }),
  novelty: gate({ maxProgramSimilarity: share, maxTextSimilarity: share }),
  audit: gate({ seeds: count }),
  hint: gate({ maxChars: count, maxOverlap: share, minPairs: count, maxWinRate: share, freshSeeds: count }),
  mutants: z.strictObject({ rate: share }).exactOptional(),
});
