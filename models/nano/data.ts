import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { canonicalJson, sha256 } from "../../src/core/digest.ts";
import { invariant, SpadeError } from "../../src/core/errors.ts";
import { deriveSeed, Rng } from "../../src/core/seed.ts";
import { bpeTokenizer, trainBpe } from "../../src/engine/bpe.ts";
import type { BpeModel } from "../../src/engine/bpe.ts";
import { agentDemonstration, designerDemonstration } from "./demonstrations.ts";
import type { Demonstration } from "./demonstrations.ts";
import type { DemonstratedProgram } from "./demonstration-summary.ts";
import { heldOutDocuments, loadPassages, pretrainingDocuments } from "./documents.ts";
import type { DocumentSource, GroundingDocument } from "./documents.ts";
import { exampleKinds, renderExample, textsOf } from "./examples.ts";
import type { Example, ExampleKind } from "./examples.ts";
import { recipe } from "./recipe.ts";
import type { Phase } from "./recipe.ts";
import { nouns } from "./words.ts";

/** Everything the demonstrations of a run depend on besides the code; fixed when the run starts. */
export interface DataPlan {
  readonly passages: readonly GroundingDocument[];
  readonly bpe: BpeModel;
  /** Per phase: share of each kind among the demonstrations (not among the tokens: kinds differ in length). */
  readonly shares: readonly Readonly<Record<ExampleKind, number>>[];
  /** Digest of the recipe and of some demonstrations: equal digests mean equal data. */
  readonly digest: string;
}

/** Training draws from the passages that are not held out and from invented ones, validation from the held-out passages only. */
export type Split = "training" | "validation";

/** All bundled passages. */
export function bundledPassages(): GroundingDocument[] {
  return loadPassages(fileURLToPath(new URL("../../corpora", import.meta.url)));
}

function documentsOf(passages: readonly GroundingDocument[], split: Split): DocumentSource {
  return split === "training" ? pretrainingDocuments(passages) : heldOutDocuments(passages);
}

function demonstrationOf(kind: ExampleKind, phase: Phase, rng: Rng, documents: DocumentSource): Demonstration {
  if (kind === "agent") return agentDemonstration(rng, documents, phase.drills);
  const { demonstration, hintDemonstration } = designerDemonstration(rng, documents, phase.keywords);
  return kind === "hint" ? hintDemonstration : demonstration;
}

function survey(passages: readonly GroundingDocument[], count: number, phase: Phase = recipe.phases[0]): Demonstration[] {
  const documents = documentsOf(passages, "training");
  return exampleKinds.flatMap((kind) => Array.from({ length: count }, (_, index) => demonstrationOf(kind, phase, new Rng(deriveSeed(recipe.seed, "survey", kind, index)), documents)));
}

function digestOf(passages: readonly GroundingDocument[]): string {
  return sha256(canonicalJson([recipe, recipe.phases.map((phase) => survey(passages, 20, phase))])).slice(0, 16);
}

/** Shares of demonstrations that give a phase's shares of tokens. */
function sharesOf(demonstrations: readonly Demonstration[], bpe: BpeModel, mix: Phase["mix"]): Record<ExampleKind, number> {
  const tokenizer = bpeTokenizer(bpe);
  const rates = exampleKinds.map((kind) => {
    const lengths = demonstrations.filter(({ role }) => role === kind).map((demonstration) => renderExample(demonstration, tokenizer).tokens.length);
    return mix[kind] / (lengths.reduce((sum, length) => sum + length, 0) / lengths.length);
  });
  const total = rates.reduce((sum, rate) => sum + rate, 0);
  const [designer = 0, hint = 0, agent = 0] = rates.map((rate) => rate / total);
  return { designer, hint, agent };
}

const repeated = (texts: readonly string[], times: number): string[] => Array.from({ length: times }, () => texts).flat();

/** A new plan: trains the tokenizer on demonstrations and passages. Equal passages and code give equal plans. */
export function newPlan(passages: readonly GroundingDocument[], surveySize: number = recipe.surveySize): DataPlan {
  const demonstrations = survey(passages, surveySize);
  const { vocabularySize, passageWeight, nounWeight } = recipe.tokenizer;
  const passageTexts = passages.map(({ text }) => text);
  const texts = [...demonstrations.flatMap(textsOf), ...repeated(passageTexts, passageWeight), ...repeated([nouns.join(" ")], nounWeight)];
  const bpe = trainBpe(texts, vocabularySize);
  return { passages, bpe, shares: recipe.phases.map(({ mix }) => sharesOf(demonstrations, bpe, mix)), digest: digestOf(passages) };
}

/** The plan kept in a run's directory, or a new one from the bundled passages. @throws usage.recipe when code or recipe changed since */
export async function planOf(state: string): Promise<DataPlan> {
  const path = join(state, "plan.json");
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) {
    const plan = newPlan(bundledPassages());
    await writeFile(path, JSON.stringify(plan));
    return plan;
  }
  const plan = JSON.parse(text) as DataPlan;
  const digest = digestOf(plan.passages);
  if (digest !== plan.digest) {
    const message = `The run in ${state} was planned with digest ${plan.digest}, recipe and demonstrations now have ${digest}. Give another --state directory, or remove that one.`;
    throw new SpadeError("usage.recipe", message, { details: { state } });
  }
  return plan;
}

/** Index of a phase's first demonstration: far beyond what an earlier one uses. */
export function firstOfPhase(phase: number): number {
  return phase * demonstrationsPerPhase;
}

const demonstrationsPerPhase = 10_000_000;

interface Drawn {
  readonly kind: ExampleKind;
  readonly phase: Phase;
  readonly rng: Rng;
  readonly documents: DocumentSource;
}

/** Demonstration `index` of a split: it depends on the plan, the split and the index only. Beyond the last phase its mix goes on. */
function drawn(plan: DataPlan, split: Split): (index: number) => Drawn {
  const documents = documentsOf(plan.passages, split);
  return (index) => {
    const rng = new Rng(deriveSeed(recipe.seed, split, index));
    const at = Math.min(recipe.phases.length - 1, Math.floor(index / demonstrationsPerPhase));
    const [phase, shares] = [recipe.phases[at], plan.shares[at]];
    invariant(phase !== undefined && shares !== undefined, "a plan has the shares of every phase");
    return { kind: kindAt(index, split, rng, shares), phase, rng, documents };
  };
}

/** The examples of a split by index. */
export function exampleSource(plan: DataPlan, split: Split): (index: number) => Example {
  const tokenizer = bpeTokenizer(plan.bpe);
  const draw = drawn(plan, split);
  return (index) => {
    const { kind, phase, rng, documents } = draw(index);
    return renderExample(demonstrationOf(kind, phase, rng, documents), tokenizer, split === "training" ? recipe.contextWeight : 0);
  };
}

/** The programs that training demonstrations design or explain, for each phase up to, not including, its index in `ends`; at most `most` of a phase. */
export function demonstratedPrograms(plan: DataPlan, ends: readonly number[], most: number): DemonstratedProgram[] {
  const draw = drawn(plan, "training");
  return ends.flatMap((end, phase) => {
    const programs: DemonstratedProgram[] = [];
    for (let index = firstOfPhase(phase); index < end && programs.length < most; index++) {
      const { kind, phase: { keywords }, rng, documents } = draw(index);
      if (kind !== "agent") programs.push(designerDemonstration(rng, documents, keywords).program);
    }
    return programs;
  });
}

function kindAt(index: number, split: Split, rng: Rng, shares: Readonly<Record<ExampleKind, number>>): ExampleKind {
  if (split === "validation") return exampleKinds[index % exampleKinds.length] ?? "agent";
  const point = rng.float();
  if (point < shares.designer) return "designer";
  return point < shares.designer + shares.hint ? "hint" : "agent";
}
