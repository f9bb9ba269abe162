import { z } from "zod";
import { gameSkills } from "../core/role.ts";
import { designerRewardSchema } from "./designer-reward-schema.ts";
import { gatesSchema } from "./gates-schema.ts";
import { advisorSchema, missing, policyKinds, variableName } from "./policy-schema.ts";

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

/** How a policy is spoken to: `compact` for the bundled nano policy, `full` for models that follow instructions. */
const promptsSchema = z.enum(["compact", "full"]);

/** One source of grounding documents. */
export const corpusSourceSchema = z.strictObject({
  /** A file or folder, the address of a Parquet file, or `hf://datasets/OWNER/NAME@COMMIT/PREFIX`; see docs/corpora.md. */
  path: z.string().min(1),
  /** Fields (columns) that may hold the text: the first with any words is it. */
  textFields: z.array(z.string().min(1)).min(1).default(["text", "orig_doc"]),
  /** Field (column) of the document's id; empty: documents are named by their text. */
  idField: z.string().default("id"),
  /** Documents taken from it by lot; absent: all. */
  sample: count.exactOptional(),
});

const corpusSchema = z.strictObject({
  /** Sources that need no more than a path. Paths and sources both empty: the bundled corpus. */
  paths: z.array(z.string().min(1)).default([]),
  /** Sources after those of `paths`. */
  sources: z.array(corpusSourceSchema).default([]),
  /** Of the lots of `sample`: runs of different seeds have the same documents, in another order. */
  sampleSeed: z.int().min(0).max(0xffffffff).default(1),
  /** Documents of other lengths are passed over. */
  keep: z
    .strictObject({
      minWords: z.int().min(0).default(0),
      maxWords: count.exactOptional(),
      minCharacters: z.int().min(0).default(0),
      maxCharacters: count.exactOptional(),
    })
    .prefault({}),
  /** Longer documents are cut after this many words. */
  maxWords: count.default(200),
  huggingFace: z
    .strictObject({
      /** Where `hf://` leads; a mirror speaks the same API. */
      endpoint: z.url({ protocol: /^https?$/ }).default("https://huggingface.co"),
      /** Name of the environment variable that holds the token; absent: none is sent. */
      apiKeyEnv: variableName.exactOptional(),
    })
    .prefault({}),
});

/** Who writes programs and hints. */
const designerSchema = z.discriminatedUnion("kind", [
  /** The policy that plays, trained on its designs too. */
  z.strictObject({ kind: z.literal("trained") }),
  /** The policy that plays; its designs are paid, for the record, but not trained on. */
  z.strictObject({ kind: z.literal("untrained") }),
  /** A policy of its own, never trained. */
  z.strictObject({
    kind: z.literal("fixed"),
    policy: z.discriminatedUnion("kind", policyKinds, missing('any policy configuration, for example --set \'designer.policy={"kind":"embedded"}\'')),
    /** How it is spoken to; absent: as the policy that plays. */
    prompts: promptsSchema.exactOptional(),
  }),
]);

const designSchema = z.strictObject({
  skills: z.array(z.string().min(1)).min(1).default([...gameSkills]),
  /** Skills designed for in one iteration, in rotation. */
  activeSkills: count.default(3),
  tasksPerIteration: count.default(12),
  /** Give each task a document of the corpus. Without, programs are grounded in nothing, and gate `grounded` is off. */
  documents: z.boolean().default(true),
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
  /** Factor on the up-weighting of designer rows, before its cap: how fast the designer learns beside the agent. */
  designerWeightFactor: z.number().positive().default(1),
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

/** A relative path is taken from the package's root. */
const folderPath = z.string(missing("a folder of programs, for example --set environments.path=environments/pool")).min(1);

const environmentsSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("selfplay") }),
  /** Control: a pool designed once by the untrained policy; then only the agent trains. */
  z.strictObject({ kind: z.literal("frozenPool"), size: count.default(64) }),
  /** Baseline: the programs of a folder that pass the gates; only the agent trains. */
  z.strictObject({ kind: z.literal("folder"), path: folderPath }),
  /** Baseline: the same with rising difficulty for programs that take one (RLVE's sliding window, curriculum/difficulty.ts). */
  z.strictObject({ kind: z.literal("adaptiveFolder"), path: folderPath, accuracy: share.default(0.9), attempts: count.default(8), width: count.default(4) }),
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
  policy: z.discriminatedUnion("kind", policyKinds).prefault({ kind: "embedded" }),
  prompts: promptsSchema.default("compact"),
  designer: designerSchema.prefault({ kind: "trained" }),
  advisor: advisorSchema.exactOptional(),
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
  /** What a run of this configuration says at its start: where it departs from what it follows. */
  notes: z.array(z.string().min(1)).default([]),
});

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

/** A resolved configuration: every field present, frozen. */
export type Config = DeepReadonly<z.output<typeof configSchema>>;

/** What a preset, a file or an override may state: any part of the configuration. */
export type ConfigInput = z.input<typeof configSchema>;

type PolicyInput = NonNullable<ConfigInput["policy"]>;

/** What a named preset states: any part of the configuration. What only its user knows (server, tokenizer, folder) may be missing. */
export type PresetInput = Omit<ConfigInput, "policy" | "designer" | "environments"> & {
  policy?: PolicyInput | (Partial<PolicyInput> & { kind: PolicyInput["kind"] }) | undefined;
  designer?: ConfigInput["designer"] | { kind: "fixed" };
  environments?: ConfigInput["environments"] | { kind: "folder" | "adaptiveFolder" };
};
