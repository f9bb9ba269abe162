import type { Rates } from "../report/plan.ts";

/**
 * Rates of the bundled model on one core, 30 November 2026: `spade plan nano --from` a quickstart of 30 iterations on one engine thread, another
 * such run on the other core (docs/plan.md).
 */
export const nanoRates: Rates = {
  admittedShare: 0.78,
  hintShare: 0.99,
  keptShare: 0.51,
  designPromptTokens: 213,
  designTokens: 204,
  hintPromptTokens: 191,
  hintTokens: 24,
  episodePromptTokens: 75,
  episodeReadTokens: 202,
  episodeTokens: 34,
  designTokensPerSecond: 1600,
  episodeTokensPerSecond: 1350,
  trainedTokensPerSecond: 2900,
  gateSecondsPerCandidate: 0.11,
  otherSecondsPerIteration: 0,
  bytesPerToken: 18,
  agentReadPrice: 0,
  agentSampledPrice: 0,
  trainedPrice: 0,
};
