import type { ConfigInput } from "./schema.ts";

const tinyPlay = { seedsPerEnvironment: 2, playsPerSeed: 2, hintPlaysPerSeed: 2, maxTurns: 4 };

const nano: ConfigInput = {
  run: { iterations: 120 },
  policy: { kind: "embedded", threads: 1 },
  sandbox: { lanes: 1 },
  design: { tasksPerIteration: 12, activeSkills: 3 },
  play: { seedsPerEnvironment: 4, playsPerSeed: 4, hintPlaysPerSeed: 4 },
  advantages: { familyPenalty: 0.5 },
  update: { loss: { kind: "policyGradient", entropyCoefficient: 0.01 }, optimiser: { learningRate: 1e-4, weightDecay: 0, minibatches: 2 } },
  evaluation: { seedsPerProgram: 16 },
};

/** The named configurations; each states only what differs from the schema's defaults. */
export const presets: Readonly<Record<string, ConfigInput>> = {
  /** The loop on two cores in at most 12 minutes. */
  quickstart: {
    run: { iterations: 20 },
    design: { tasksPerIteration: 12, activeSkills: 3 },
    play: { seedsPerEnvironment: 4, playsPerSeed: 2, hintPlaysPerSeed: 2 },
    advantages: { familyPenalty: 0.5 },
    update: { loss: { kind: "policyGradient", entropyCoefficient: 0.01 }, optimiser: { weightDecay: 0 } },
    evaluation: { seedsPerProgram: 8 },
  },
  /** Self-play for an hour on one core. */
  nano,
  /** Control of `nano`: the same episodes and updates on a pool designed by the untrained policy. */
  "nano-frozen-pool": { ...nano, environments: { kind: "frozenPool", size: 96 } },
  /** Two tiny iterations, for tests. */
  smoke: {
    run: { iterations: 2 },
    policy: { kind: "embedded", threads: 1 },
    sandbox: { lanes: 1 },
    design: { tasksPerIteration: 2, activeSkills: 2, maxAttempts: 1 },
    play: tinyPlay,
    evaluation: { seedsPerProgram: 1, greedy: false },
  },
};
