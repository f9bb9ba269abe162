import type { Rates } from "../report/plan.ts";

/**
 * Rates of the bundled model under `nano`, 30 November 2026. Shares and token counts are those of a run of three iterations. Speeds are
 * that run's, made on a busy machine, times seven: the pace of quieter runs of the same day (docs/plan.md).
 */
export const nanoRates: Rates = {
  admittedShare: 0.52,
  hintShare: 1,
  keptShare: 0.76,
  designPromptTokens: 166,
  designTokens: 165,
  hintPromptTokens: 159,
  hintTokens: 25,
  episodePromptTokens: 63,
  episodeReadTokens: 95,
  episodeTokens: 21,
  designTokensPerSecond: 1100,
  episodeTokensPerSecond: 1500,
  trainedTokensPerSecond: 1750,
  gateSecondsPerCandidate: 0.17,
  otherSecondsPerIteration: 2.2,
  bytesPerToken: 16,
  agentReadPrice: 0,
  agentSampledPrice: 0,
  trainedPrice: 0,
};
