/** Everything that decides what the nano model is; the card and the checkpoints carry its digest. */
export const recipe = {
  seed: 20_260,
  /** Passages and the nouns of invented ones count more often than once, so that a word to copy is few tokens. */
  tokenizer: { vocabularySize: 2048, passageWeight: 4, nounWeight: 60 },
  model: { width: 192, layers: 5, heads: 3, feedForward: 512, contextLength: 1024, ropeBase: 1_000_000 },
  /**
   * The run's phases, each with a learning rate of its own that rises and falls once. `mix`: shares of the tokens, prompts included;
   * `drills`: share of drills among the agent's demonstrations. Designs come first, acting is what needs most tokens. `keywords`: the designer's prompt
   * lists nouns of the passage, as self-play's does; without them a model this small names one word over and over.
   */
  phases: [
    { tokens: 16_000_000, learningRate: 2.5e-3, mix: { designer: 0.46, hint: 0.05, agent: 0.49 }, drills: 0.3, keywords: false },
    { tokens: 13_000_000, learningRate: 1.5e-3, mix: { designer: 0.28, hint: 0.04, agent: 0.68 }, drills: 0.45, keywords: false },
    { tokens: 2_500_000, learningRate: 8e-4, mix: { designer: 0.5, hint: 0.05, agent: 0.45 }, drills: 0.45, keywords: true },
  ],
  /** Loss weight of a prompt's or observation's text; what the policy says itself has weight 1. */
  contextWeight: 0.05,
  /**
   * Training begins with copying alone, because a model this small finds it late or never beside other things; a few such
   * rows stay in every later step.
   */
  copying: { steps: 120, rowsAlone: 15, rowsBeside: 1 },
  batchTokens: 3072,
  optimiser: { beta1: 0.9, beta2: 0.98, epsilon: 1e-8, weightDecay: 0.1, maxGradientNorm: 1 },
  /** Shares of a phase: linear warm-up, then a cosine down to `floor` times the peak. */
  schedule: { warmUp: 0.03, floor: 0.02 },
  /** Demonstrations of each kind that the tokenizer learns from, and of which mean lengths are taken. */
  surveySize: 400,
  /** Demonstrations of each kind in the validation set; they are made as in the last phase. */
  validationSize: 24,
  /** Demonstrated programs of a phase, from the first on, that `demonstrations.json` summarises at most. */
  summarisedPrograms: 20_000,
} as const;

export type Phase = (typeof recipe.phases)[number];

/** Learning rate at `progress` in [0, 1] of a phase. */
export function learningRateAt(progress: number, peak: number): number {
  const { warmUp, floor } = recipe.schedule;
  if (progress < warmUp) return peak * Math.max(0.02, progress / warmUp);
  const cosine = 0.5 * (1 + Math.cos((Math.PI * Math.min(1, progress) - Math.PI * warmUp) / (1 - warmUp)));
  return peak * (floor + (1 - floor) * cosine);
}
