import { paperPresets } from "./paper-presets.ts";
import { ablations, over, poolBaselines } from "./preset-variants.ts";
import type { ConfigInput, PresetInput } from "./schema.ts";

/** What every configuration of the bundled nano policy shares. */
const nanoPolicy: ConfigInput = {
  policy: { kind: "embedded", model: "models/nano", threads: 2 },
  /** Programs are small: a call that runs longer than about 50 ms hangs. */
  sandbox: { limits: { fuelPerCall: 50_000 } },
  /**
   * Examples are cut as in the demonstrations. This model repeats the family of whatever example it sees, even of one to avoid: it
   * sees only good ones, and is free where there are none. Rejected designs earn less than useless ones. All skills at a time: many
   * kinds of programs beside each other keep the agent from mastering a few and forgetting the rest.
   */
  design: { tasksPerIteration: 32, maxAttempts: 1, activeSkills: 6, exampleMaxChars: 160, negatives: 0, invalidReward: -0.1, sampling: { temperature: 0.7 } },
  play: { seedsPerEnvironment: 4, playsPerSeed: 2, hintPlaysPerSeed: 2 },
  /** A third of what the agent plays is drawn from the archive by learnability: about half of the new programs teach it nothing. */
  curriculum: { replays: 8, positiveMaxAge: 6 },
  /**
   * No novelty gate: this model writes variants of the families it was shown, in few words, so the gate would refuse
   * more with every iteration and measure the length of the run. Repetition costs advantage instead (familyPenalty).
   */
  gates: { novelty: { enabled: false } },
  /**
   * 8 plays an arm leave a wide interval around regret: only what is surely there is paid, so that noise does not drown the rest.
   * The wide ramp pays a little for being won, or lost, at all: most first designs are far from the middle.
   */
  designerReward: { kind: "blend", regretEstimate: "lowerBound", ramp: 0.4 },
  advantages: { familyPenalty: 0.5 },
  /**
   * Designs weigh about a hundred times as much as plays: the agent masters a family in a few iterations, and the designer must find out faster
   * than that what can still be learned from.
   */
  update: {
    designerWeightFactor: 40,
    designerWeightCap: 150,
    loss: { kind: "policyGradient", entropyCoefficient: 0.01 },
    optimiser: { learningRate: 1e-4, weightDecay: 0, minibatches: 2 },
  },
};

const nano: ConfigInput = {
  ...nanoPolicy,
  run: { iterations: 60 },
  policy: { kind: "embedded", threads: 1 },
  sandbox: { ...nanoPolicy.sandbox, lanes: 1 },
  evaluation: { seedsPerProgram: 16 },
};

/** The named configurations; each states only what differs from the schema's defaults. */
export const presets: Readonly<Record<string, PresetInput>> = {
  /**
   * The loop on two cores in at most 12 minutes. Small steps and more varied designs: in so few iterations the designer keeps ahead of the agent only
   * if the agent does not master what it plays at once.
   */
  quickstart: over(nanoPolicy, {
    run: { iterations: 30 },
    design: { sampling: { temperature: 0.9 } },
    update: { optimiser: { learningRate: 2.5e-5 } },
    evaluation: { seedsPerProgram: 4 },
  }),
  /** Self-play for about half an hour on one core, measured with more plays. */
  nano,
  /** Control of `nano`: updates on as many environments an iteration (about 24 new ones and the replays), of a pool designed by the untrained policy. */
  "nano-frozen-pool": { ...nano, environments: { kind: "frozenPool", size: 96 } },
  /** Two tiny iterations, for tests. */
  smoke: {
    ...nanoPolicy,
    run: { iterations: 2 },
    policy: { kind: "embedded", threads: 1 },
    sandbox: { ...nanoPolicy.sandbox, lanes: 1 },
    design: { ...nanoPolicy.design, tasksPerIteration: 2, activeSkills: 2, sampling: { temperature: 0.5 } },
    play: { seedsPerEnvironment: 2, playsPerSeed: 2, hintPlaysPerSeed: 2, maxTurns: 4 },
    evaluation: { seedsPerProgram: 1, greedy: false },
  },
  ...ablations("nano", nano, { fixedDesigner: { kind: "fixed", policy: { kind: "embedded", model: "models/nano", threads: 1 } } }),
  ...poolBaselines("nano", nano, { path: "environments/pool", static: {}, adaptive: {} }),
  ...paperPresets,
};
