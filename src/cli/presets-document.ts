import { loadConfig } from "../config/load.ts";
import { mergeInputs } from "../config/merge.ts";
import { presets } from "../config/presets.ts";
import type { Config } from "../config/schema.ts";
import { canonicalJson } from "../core/digest.ts";

/** Stands for what the user of a preset has to name. */
const placeholders = {
  policy: { baseUrl: "http://127.0.0.1:8000", tokenizer: "models/nano", profile: "hosted" },
  designer: { policy: { kind: "embedded" } },
  environments: { path: "environments/pool" },
};

/** A preset as it resolves, with placeholders where its user has to name something. */
export function resolvePreset(name: string): Config {
  const { policy, designer, environments } = presets[name] ?? {};
  return loadConfig(name, {
    ...(policy?.kind === "tinker" ? { policy: placeholders.policy } : {}),
    ...(designer?.kind === "fixed" ? { designer: mergeInputs(placeholders.designer, designer) } : {}),
    ...(environments !== undefined && environments.kind !== "selfplay" && environments.kind !== "frozenPool" ? { environments: mergeInputs(placeholders.environments, environments) } : {}),
  }).config;
}

/** The ablations and baselines by the end of their names: what they are, and the paper's mean of eight benchmarks at 30B-A3B. */
const variants: Readonly<Record<string, readonly [what: string, paper: string]>> = {
  "no-corpus": ["designs without a document", "53.5"],
  "no-memory": ["designs without examples of earlier environments", "53.2"],
  "frozen-designer": ["designs not trained on, and without memory", "40.5"],
  "fixed-designer": ["designs by another, fixed model", "53.0 (GPT-5.5)"],
  "learning-potential": ["designer paid by distance to the skill's slow average", "55.9"],
  "solve-rate": ["designer paid by the win rate's plateau alone", "–"],
  "two-skills": ["Mathematical Reasoning and Pattern Recognition only", "53.7"],
  "static-pool": ["no designer: programs of a folder", "51.4 (GPT-5.5 pool)"],
  "adaptive-pool": ["no designer: programs of a folder, difficulty rising with success", "53.0 (RLVE)"],
};

const bases: Readonly<Record<string, string>> = {
  quickstart: "the loop on two cores in minutes",
  nano: "self-play of the bundled model on one core",
  "nano-frozen-pool": "control of nano: a pool designed once by the untrained policy",
  smoke: "two tiny iterations, for tests",
};

function variantOf(name: string): { readonly base: string; readonly end: string } | undefined {
  const end = Object.keys(variants).find((suffix) => name.endsWith(`-${suffix}`));
  return end === undefined ? undefined : { base: name.slice(0, -end.length - 1), end };
}

/** What a preset is, in one line. */
export function summaryOf(name: string): string {
  const variant = variantOf(name);
  if (variant !== undefined) return `${variant.base}: ${variants[variant.end]?.[0] ?? ""}`;
  const paper = /^paper-(games|tool-use)-/.exec(name);
  const { policy } = resolvePreset(name);
  return bases[name] ?? `the paper's recipe, ${paper?.[1] === "games" ? "games" : "tool use"}, ${policy.model}`;
}

interface Row {
  readonly what: string;
  /** As in the paper, or in its released commands. */
  readonly games: string;
  readonly toolUse: string;
  readonly of: (config: Config) => unknown;
}

const same = "same";
const rows: readonly Row[] = [
  { what: "model", games: "Qwen3-4B-Instruct-2507, Qwen3-8B (thinking on), Qwen3-30B-A3B-Instruct-2507", toolUse: same, of: ({ policy }) => policy.model },
  { what: "iterations", games: "400", toolUse: same, of: ({ run }) => run.iterations },
  { what: "skills, active at a time", games: "6, 3", toolUse: "6", of: ({ design }) => `${design.skills.length}, ${design.activeSkills}` },
  { what: "environments per iteration", games: "24", toolUse: same, of: ({ design }) => design.tasksPerIteration },
  { what: "episodes per environment, plain / hint", games: "16 / 16", toolUse: same, of: ({ play }) => `${play.seedsPerEnvironment * play.playsPerSeed} / ${play.seedsPerEnvironment * play.hintPlaysPerSeed}` },
  { what: "k: regeneration and designer delay", games: "4", toolUse: "8", of: ({ design }) => design.regenerateEvery },
  { what: "candidates per design", games: "5", toolUse: same, of: ({ design }) => design.maxAttempts },
  { what: "rows of one optimiser step", games: "192, dynamic", toolUse: same, of: stepRows },
  { what: "learning rate, Adam β, weight decay", games: "1e-6, (0.9, 0.98), 0.1", toolUse: same, of: ({ update: { optimiser } }) => `${optimiser.learningRate.toExponential()}, (${optimiser.beta1}, ${optimiser.beta2}), ${optimiser.weightDecay}` },
  { what: "clip ε low, high", games: "0.2, 0.28", toolUse: same, of: ({ update: { loss } }) => `${loss.clipLow}, ${loss.clipHigh}` },
  { what: "KL to the reference, entropy bonus", games: "0 (8B: 0.005), 0", toolUse: "0.005, 0", of: ({ update: { loss } }) => `${loss.klCoefficient}, ${loss.entropyCoefficient}` },
  { what: "factor on the designer's weight, cap", games: "1, 50", toolUse: same, of: ({ update }) => `${update.designerWeightFactor}, ${update.designerWeightCap}` },
  { what: "temperature, top-p, top-k, designer", games: "0.6, 0.95, 20", toolUse: same, of: ({ design }) => sampling(design.sampling) },
  { what: "temperature, top-p, top-k, agent", games: "0.6, 0.95, 20", toolUse: same, of: ({ play }) => sampling(play.sampling) },
  { what: "max tokens designer / agent / hint", games: "16,384 (8B: 20,000) / 8,192 / 4,096", toolUse: "16,384 (8B: 20,000 in the released commands) / 8,192 / 2,048", of: ({ design, play }) => [design.sampling, play.sampling, design.hintSampling].map(({ maxTokens }) => maxTokens.toLocaleString("en")).join(" / ") },
  { what: "temperature of hints", games: "0.3", toolUse: same, of: ({ design }) => design.hintSampling.temperature },
  { what: "turns, context", games: "25, 32,768", toolUse: same, of: ({ play }) => `${play.maxTurns}, ${play.contextLength.toLocaleString("en")}` },
  { what: "words of a document", games: "at most 6,000", toolUse: "at most 4,000", of: ({ corpus }) => `at most ${corpus.maxWords.toLocaleString("en")}` },
  { what: "documents", games: "10k mathematics, 5k science", toolUse: "15k code", of: ({ corpus }) => (corpus.paths.length === 0 ? "bundled; name yours in corpus.paths" : corpus.paths.join(", ")) },
  { what: "memory", games: "200", toolUse: same, of: ({ curriculum }) => curriculum.memorySize },
  { what: "examples, good / to avoid, characters", games: "2 / 1, 2,000", toolUse: same, of: ({ design }) => `${design.positives} / ${design.negatives}, ${design.exampleMaxChars.toLocaleString("en")}` },
  { what: "designer's reward", games: "0.6 plateau(0.4, 0.6, 0.25) + 0.4 clip(regret / 0.15, 0, 1)", toolUse: same, of: blend },
  { what: "chance-corrected, stratified", games: "no, no", toolUse: same, of: ({ designerReward: spec }) => ("stratified" in spec ? `${yes(spec.chanceCorrected)}, ${yes(spec.stratified)}` : "") },
  { what: "time-out pays", games: "-0.5", toolUse: same, of: ({ designerReward }) => designerReward.timeoutReward },
];

const yes = (value: boolean): string => (value ? "yes" : "no");
const sampling = ({ temperature, topP, topK }: Config["play"]["sampling"]): string => `${temperature}, ${topP}, ${topK}`;

function stepRows({ design, play, update }: Config): string {
  return `${(design.tasksPerIteration * play.seedsPerEnvironment * play.playsPerSeed) / update.optimiser.minibatches} agent rows, and the designer's`;
}

function blend({ designerReward: spec }: Config): string {
  if (spec.kind !== "blend") return spec.kind;
  const regret = spec.regretEstimate === "floored" ? `clip(regret / ${spec.regretScale}, 0, 1)` : `clip(${spec.regretEstimate} regret / ${spec.regretScale}, -1, 1)`;
  return `${spec.plateauWeight} plateau(${spec.low}, ${spec.high}, ${spec.ramp}) + ${spec.regretWeight} ${regret}`;
}

/** `docs/presets.md`, whole. */
export function presetsDocument(): string {
  return `${[introduction, ...["games", "tool-use"].flatMap(recipeTable), "", "## Departures that a run says at its start", "", ...departures(), "", variantText, ...variantTable("paper-games-30b", true), "", nanoText, ...variantTable("nano", false), "", userText].join("\n")}\n`;
}

function recipeTable(setting: string): string[] {
  const names = ["4b", "8b", "30b"].map((size) => `paper-${setting}-${size}`);
  const configs = names.map(resolvePreset);
  const paper = (row: Row): string => (setting === "games" || row.toolUse === same ? row.games : row.toolUse);
  return ["", ...markdown([["", "paper", ...names.map((name) => `\`${name}\``)], ...rows.map((row) => [row.what, paper(row), ...configs.map((config) => String(row.of(config)))])])];
}

function departures(): string[] {
  const texts = new Map<string, string[]>();
  for (const name of Object.keys(presets).filter((preset) => /^paper-(games|tool-use)-\d+b$/.test(preset))) {
    for (const note of resolvePreset(name).notes) texts.set(note, [...(texts.get(note) ?? []), `\`${name}\``]);
  }
  return [...texts].map(([note, names]) => `* ${note} (${names.join(", ")})`);
}

function variantTable(base: string, withPaper: boolean): string[] {
  const from = resolvePreset(base);
  const table = Object.entries(variants).map(([end, [what, paper]]) => {
    const name = `${base}-${end}`;
    const changes = differences(from, resolvePreset(name)).map((text) => `\`${hidePlaceholders(name, text)}\``);
    return [`\`${name}\``, what, changes.join("<br>"), ...(withPaper ? [paper] : [])];
  });
  return ["", ...markdown([["preset", "what it is", `differs from \`${base}\` in`, ...(withPaper ? ["paper"] : [])], ...table])];
}

/** Dots for what the user names. */
function hidePlaceholders(name: string, text: string): string {
  const { designer = {}, environments = {} } = presets[name] ?? {};
  const policy = "policy" in designer ? text : text.replace(/"policy":\{.*?\}/, '"policy":…');
  return "path" in environments ? policy : policy.replace(/"path":".*?"/, '"path":…');
}

/** Every key whose value differs, as `key = value`; a variant of another kind as a whole. */
function differences(from: unknown, to: unknown, path = ""): string[] {
  if (canonicalJson(from) === canonicalJson(to)) return [];
  const objects = [from, to].every((value) => value !== null && typeof value === "object" && !Array.isArray(value));
  if (!objects || kindOf(from) !== kindOf(to)) return [`${path} = ${JSON.stringify(to)}`];
  const [a, b] = [from, to] as Record<string, unknown>[];
  return [...new Set([...Object.keys(a ?? {}), ...Object.keys(b ?? {})])].flatMap((key) => differences(a?.[key] ?? null, b?.[key] ?? null, path === "" ? key : `${path}.${key}`));
}

function kindOf(value: unknown): unknown {
  return (value as { readonly kind?: unknown }).kind;
}

function markdown([head = [], ...body]: readonly (readonly string[])[]): string[] {
  return [head, head.map(() => "---"), ...body].map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`);
}

const introduction = `# Presets

Written by \`npx spade presets --markdown > docs/presets.md\`; a test compares the two. \`npx spade presets\` lists all names.

The values of the paper (arXiv 2608.19197) stand beside those of the presets that follow it. Where the paper is silent, the column gives what
its released code says (top-p, top-k, temperature of hints, examples, rates of \`learning-potential\`, the batch of \`adaptive-pool\`). What neither
says is ours: 16 seeds with one play each, and the gates of [gates.md](gates.md) instead of its validation (gate \`novelty\` is off).

These presets train on a Tinker server, which they leave to you to name, like the tokenizer:

    npx spade plan paper-games-4b --set policy.baseUrl=http://127.0.0.1:8000 \\
      --set policy.profile=skyrl-jax --set policy.tokenizer=/models/Qwen3-4B-Instruct-2507
    npx spade train paper-games-4b --set …

or in a file: \`{ "extends": "paper-games-4b", "policy": { "baseUrl": …, "profile": …, "tokenizer": … }, "corpus": { "paths": […] } }\`.
Profiles, keys and the model's name on your server: [engines.md](engines.md). Without \`corpus.paths\` designs are grounded in the bundled passages.
**None of these presets has been run to its end here**: they need GPUs.`;

const variantText = `## Ablations and baselines

One function makes them of a preset (\`src/config/preset-variants.ts\`). The paper's column is its mean of eight benchmarks for
Qwen3-30B-A3B (base 50.2, whole recipe 58.3). \`paper-games-4b\` and \`paper-games-8b\` have the two baselines too. The fixed designer is any policy
configuration, for example \`--set 'designer.policy={"kind":"tinker", …}'\`; the folder of a baseline is \`--set environments.path=DIR\`.`;

const nanoText = `## The same on a CPU

\`nano\` with the same changes. The fixed designer is the bundled model as it comes; the folder is \`environments/pool\`, six programs that take a
difficulty. \`nano-frozen-pool\` is another control: a pool that the untrained policy designs itself. The bundled model has never seen a request
for a program without a document: \`nano-no-corpus\` measures that as well.`;

const userText = `## Pools

A pool is a folder of \`.py\` and \`.ts\` programs, read with its subfolders; a program's skill is the name of the folder it lies in. The gates judge
all of them in iteration 0 (\`grounded\` is off, \`novelty\` compares with nothing); what they reject is dropped. There is no designer and no hint.

A program takes a difficulty when it declares it on a line of its own, \`difficulty = 1\`: class attribute in Python, field in TypeScript.
\`adaptiveFolder\` keeps a range of levels for each such program, at first the one written there. An iteration draws a level uniformly from it and
writes it into that line; the variant is judged by the gates and recorded as \`<file>@<level>\` when it is first drawn. After 8 problems (seeds) at the
highest level their mean win rate is looked at: from 0.9 on the next level opens, and the range keeps its 4 highest. A level that the gates
reject is not played, so the range ends below it.`;
