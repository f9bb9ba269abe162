import { z } from "zod";
import { gameSkills } from "../core/role.ts";
import { designerRewardSchema } from "./designer-reward-schema.ts";
import { gatesSchema } from "./gates-schema.ts";

const count = z.int().min(1);
const share = z.number().min(0).max(1);

function samplingSchema(maxTokens: number) {
  return z
    .strictObject({
      temperature: z.number().min(0).default(1),
      /** 1: no truncation. */
      topP: z.number().gt(0).max(1).default(1),
      /** 0: no truncation. */
      topK: z.int().min(0).default(0),
      maxTokens: count.default(maxTokens),
    })
    .prefault({});
}

const runSchema = z.strictObject({ iterations: z.int().min(0).default(10), seed: z.int().min(0).max(0xffffffff).default(1) });

const policySchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("embedded"),
    /** Directory of the model; a relative path is taken from the package's root. */
    model: z.string().min(1).default("models/nano"),
    threads: count.default(2),
  }),
  z.strictObject({
    kind: z.literal("tinker"),
    /** Where the server is, for example `http://127.0.0.1:8000`. */
    baseUrl: z.url({ protocol: /^https?$/ }).refine((url) => !/^[a-z]+:\/\/[^/]*@/i.test(url), { error: "a URL may hold no user or password: name the environment variable of the key in apiKeyEnv" }),
    /** Name of the base model, letter by letter as the server serves it. */
    model: z.string().min(1),
    /** Directory of the served model's tokenizer; a relative path is taken from the package's root. */
    tokenizer: z.string().min(1),
    /** Which server it is: what differs between servers follows from it. */
    profile: z.enum(["hosted", "skyrl-jax", "skyrl-jax-0.3", "skyrl-torch", "tuft", "hatchery"]),
    /** Name of the environment variable that holds the API key; absent: none is sent. The key itself is nowhere in the record. */
    apiKeyEnv: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "it is the name of an environment variable, never the key itself").exactOptional(),
    lora: z
      .strictObject({
        rank: count.default(32),
        trainAttention: z.boolean().default(true),
        trainMlp: z.boolean().default(true),
        trainUnembedding: z.boolean().default(true),
      })
      .prefault({}),
    /** Tokens of the model's context; absent: as the server says. */
    contextLength: z.int().min(2).exactOptional(),
    /** Sampling requests in flight at once. */
    maxConcurrentSamples: count.default(64),
    /** Rows of one forward_backward request, and its estimated size. */
    chunk: z.strictObject({ datums: count.default(1024), bytes: count.default(5_000_000) }).prefault({}),
    /** Of one HTTP request. */
    requestTimeoutMs: count.default(60_000),
    /** Of one operation, the time in the server's queue included. */
    operationTimeoutMs: count.default(3_600_000),
  }),
]);

const corpusSchema = z.strictObject({
  /** JSONL files; empty: the bundled corpus. */
  paths: z.array(z.string().min(1)).default([]),
  /** Longer documents are cut after this many words. */
  maxWords: count.default(200),
});

const designSchema = z.strictObject({
  skills: z.array(z.string().min(1)).min(1).default([...gameSkills]),
  /** Skills designed for in one iteration, in rotation. */
  activeSkills: count.default(3),
  tasksPerIteration: count.default(12),
  /** Candidates sampled per design task before it is given up. */
  maxAttempts: count.default(2),
  sampling: samplingSchema(400),
  /** Hint calls are not trained on, so their sampling is free. */
  hintSampling: samplingSchema(64),
  /** Characters of an example's source shown to the designer. */
  exampleMaxChars: z.int().min(0).default(600),
  positives: z.int().min(0).default(1),
  negatives: z.int().min(0).default(1),
  /** Iterations k for which a set of environments is kept; also the delay of the designer's update. */
  regenerateEvery: count.default(1),
  /** Reward of a design that no gate sequence admitted; absent: such designs are dropped. */
  invalidReward: z.number().min(-1).max(1).exactOptional(),
});

const playSchema = z.strictObject({
  /** m: seeds per environment, shared by both arms. */
  seedsPerEnvironment: count.default(4),
  /** p: plain plays per seed. */
  playsPerSeed: count.default(2),
  hintPlaysPerSeed: z.int().min(0).default(2),
  maxTurns: count.default(8),
  /** How the policy writes tool calls: `<tool_call>` blocks (Hermes, Qwen) or bare JSON (Llama 3). */
  toolCalls: z.enum(["hermes", "llama3"]).default("hermes"),
  /** Share of the episodes whose record is rendered again before they are trained on; a difference stops the run. */
  renderCheckShare: share.default(0.02),
  sampling: samplingSchema(128),
  /** Tokens of one trajectory. */
  contextLength: count.default(1024),
});

const sandboxSchema = z.strictObject({
  /** Child processes. */
  lanes: count.default(2),
  /** Second wall behind permission mode (Linux): where it works, never, or no run without. */
  bubblewrap: z.enum(["auto", "off", "required"]).default("auto"),
  /** Overrides of the sandbox's `defaultLimits`. */
  limits: z
    .strictObject({
      fuelPerCall: count.exactOptional(),
      fuelPerEpisode: count.exactOptional(),
      wallMsPerCall: count.exactOptional(),
      wallMsPerEpisode: count.exactOptional(),
      wallMsPerTurn: count.exactOptional(),
      wallMsPerStart: count.exactOptional(),
      memoryLimitBytes: count.exactOptional(),
      maxActionChars: count.exactOptional(),
      maxObservationChars: count.exactOptional(),
      maxOutputBytes: count.exactOptional(),
      maxInstances: count.exactOptional(),
      maxForkBytes: count.exactOptional(),
    })
    .prefault({}),
});

const advantagesSchema = z.strictObject({ familyPenalty: z.number().min(0).default(0) });

const updateSchema = z.strictObject({
  loss: z
    .discriminatedUnion("kind", [
      z.strictObject({
        kind: z.literal("policyGradient"),
        clipLow: share.default(0.2),
        clipHigh: z.number().min(0).default(0.28),
        importanceCap: z.number().min(1).default(2),
        klCoefficient: z.number().min(0).default(0),
        entropyCoefficient: z.number().min(0).default(0),
      }),
    ])
    .prefault({ kind: "policyGradient" }),
  optimiser: z
    .strictObject({
      learningRate: z.number().min(0).default(1e-4),
      beta1: z.number().min(0).lt(1).default(0.9),
      beta2: z.number().min(0).lt(1).default(0.98),
      epsilon: z.number().positive().default(1e-8),
      weightDecay: z.number().min(0).default(0.1),
      maxGradientNorm: z.number().positive().default(1),
      minibatches: count.default(2),
    })
    .prefault({}),
  /** Cap of the up-weighting of designer rows. */
  designerWeightCap: z.number().positive().default(50),
  updatesPerIteration: count.default(1),
  /** A row sampled by an older version than this is refused; must cover the designer's delay. */
  maxPolicyLag: z.int().min(0).default(1),
  /** Sample the next iteration while this one is updated and committed; its rows are then older by an iteration's updates. Tinker servers only. */
  asynchronous: z.boolean().default(false),
});

const curriculumSchema = z.strictObject({
  memorySize: count.default(200),
  /** Win rates of positive examples. */
  positiveBand: z.tuple([share, share]).default([0.15, 0.85]),
  /** Positive examples were last played at most so many iterations ago: older win rates are another policy's. Absent: however long ago. */
  positiveMaxAge: count.exactOptional(),
  tooEasy: share.default(0.9),
  tooHard: share.default(0.1),
  /** Archive environments, drawn by learnability, that the agent plays beside each new set (plain arm only, not paid again). */
  replays: z.int().min(0).default(0),
  /** Replay archive environments when an iteration admits none. */
  replayWhenEmpty: z.boolean().default(true),
});

const environmentsSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("selfplay") }),
  /** Control: a pool designed once by the untrained policy; then only the agent trains. */
  z.strictObject({ kind: z.literal("frozenPool"), size: count.default(64) }),
]);

const evaluationSchema = z.strictObject({
  /** Directories of hand-written programs; a relative path is taken from the package's root. */
  suites: z.array(z.string().min(1)).default(["environments/heldout", "environments/easy"]),
  /** 0: only before and after the run. */
  everyIterations: z.int().min(0).default(0),
  seedsPerProgram: count.default(8),
  /** Sampled plays per seed; greedily each seed is played once. */
  playsPerSeed: count.default(1),
  /** Evaluate greedily besides sampling. */
  greedy: z.boolean().default(true),
});

const storageSchema = z.strictObject({
  keepCheckpoints: z.int().min(2).default(2),
});

/** The whole configuration of a run; the only place that holds defaults. Unknown keys are errors. */
export const configSchema = z.strictObject({
  run: runSchema.prefault({}),
  policy: policySchema.prefault({ kind: "embedded" }),
  /** How both roles are spoken to: `compact` for the bundled nano policy, `full` for models that follow instructions. */
  prompts: z.enum(["compact", "full"]).default("compact"),
  corpus: corpusSchema.prefault({}),
  design: designSchema.prefault({}),
  environments: environmentsSchema.prefault({ kind: "selfplay" }),
  play: playSchema.prefault({}),
  sandbox: sandboxSchema.prefault({}),
  gates: gatesSchema.prefault({}),
  designerReward: designerRewardSchema.prefault({ kind: "blend" }),
  advantages: advantagesSchema.prefault({}),
  update: updateSchema.prefault({}),
  curriculum: curriculumSchema.prefault({}),
  evaluation: evaluationSchema.prefault({}),
  storage: storageSchema.prefault({}),
  /** Permit sampling from a distribution that the loss does not model (invariant 10). */
  allowSamplingMismatch: z.boolean().default(false),
});

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

/** A resolved configuration: every field present, frozen. */
export type Config = DeepReadonly<z.output<typeof configSchema>>;

/** What a preset, a file or an override may state: any part of the configuration. */
export type ConfigInput = z.input<typeof configSchema>;
