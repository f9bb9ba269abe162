import type { Renderer } from "../../src/chat/renderer.ts";
import { deriveSeed, Rng } from "../../src/core/seed.ts";
import type { CrossEntropyRow } from "../../src/engine/types.ts";
import { defaultGates, type GatesConfig } from "../../src/gates/config.ts";
import type { Policy } from "../../src/policy/policy.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import type { ProgramKinds } from "../../src/selfplay/dependencies.ts";
import { exampleSource, firstOfPhase } from "./data.ts";
import type { DataPlan } from "./data.ts";
import { pretrainingDocuments } from "./documents.ts";
import { judgedDesigns } from "./judged-designs.ts";
import { recipe } from "./recipe.ts";

/** Everything that decides the refinement besides the pretrained model. */
export const refinement = {
  /** Learning rate of each round. */
  learningRates: [3e-4, 2.25e-4, 1.5e-4],
  /** Words of the passage that a program must name to be learned from: more than self-play asks for. */
  minGroundedWords: 3,
  designsPerRound: 800,
  temperature: 0.6,
  maxTokens: 400,
  /** Most of a round's admitted programs that may be of one family. */
  familyShare: 0.08,
} as const;

/** The gates of a round. Repeating a form is no fault here: the round is balanced by family instead. */
export function refinementGates(maxTurns: number): GatesConfig {
  const { novelty, grounded } = defaultGates;
  return { ...defaultGates, maxTurns, novelty: { ...novelty, enabled: false }, grounded: { ...grounded, minGroundedWords: refinement.minGroundedWords } };
}

/** Whether a design's plan names no word twice: a model that learns from repetitions repeats ever more. */
export function namesEachWordOnce(response: string): boolean {
  const words = response.slice(response.indexOf(":") + 1).split("\n", 1)[0]?.trim().split(" ") ?? [];
  return new Set(words).size === words.length;
}

/** What a round works with. */
export interface RefinementContext {
  readonly plan: DataPlan;
  readonly policy: Policy;
  readonly sandbox: Sandbox;
  readonly renderer: Renderer;
  /** Most turns of an episode. */
  readonly maxTurns: number;
  readonly kinds: ProgramKinds;
}

interface Admitted {
  readonly family: string;
  readonly row: CrossEntropyRow;
}

/** Lets the model design on training passages; rows of the admitted programs, no family beyond its share. */
export async function drawDesigns(round: number, context: RefinementContext): Promise<{ readonly admitted: number; readonly families: number; readonly rows: readonly CrossEntropyRow[] }> {
  const { plan, renderer, kinds, maxTurns } = context;
  const draws = Array.from({ length: refinement.designsPerRound }, (_, index) => {
    const id = `${round}.${index}`;
    return { id, promptSeed: deriveSeed(recipe.seed, "refine", round, index), sampleSeed: deriveSeed(recipe.seed, "refine", id) };
  });
  const { temperature, maxTokens } = refinement;
  const designs = await judgedDesigns(draws, { ...context, documents: pretrainingDocuments(plan.passages), gates: refinementGates(maxTurns), temperature, maxTokens, seed: recipe.seed });
  const admitted = designs.flatMap(({ admission: { record, facts }, response, prompt, tokens }): Admitted[] =>
    record.verdict === "admitted" && facts !== undefined && namesEachWordOnce(response) ? [{ family: kinds.family(facts), row: designRow(prompt, tokens, renderer) }] : [],
  );
  const families = Map.groupBy(admitted, ({ family }) => family);
  const most = Math.max(1, Math.ceil(refinement.familyShare * admitted.length));
  return { admitted: admitted.length, families: families.size, rows: [...families.values()].flatMap((members) => members.slice(0, most)).map(({ row }) => row) };
}

/**
 * Prompt and what was sampled, of which all but the plan's family carries loss: what the gates admit teaches how to write a
 * program, not to write the families that are admitted most easily.
 */
function designRow(prompt: Int32Array, sampled: Int32Array, renderer: Renderer): CrossEntropyRow {
  const family = sampled.findIndex((_, at) => renderer.text(sampled.subarray(0, at + 1)).includes(":"));
  const learned = prompt.length + Math.max(0, family);
  const tokens = Int32Array.from([...prompt, ...sampled]);
  return { tokens, weights: Float32Array.from(tokens, (_, at) => (at < learned ? 0 : 1)) };
}

/** The round's rows and as many tokens of fresh demonstrations, mixed, in batches of the recipe's size. */
export function refinementBatches(round: number, rows: readonly CrossEntropyRow[], plan: DataPlan): CrossEntropyRow[][] {
  const exampleAt = exampleSource(plan, "training");
  const mixed = [...rows];
  let missing = rows.reduce((sum, { tokens }) => sum + tokens.length, 0);
  for (let index = firstOfPhase(recipe.phases.length + round); missing > 0; index++) {
    const example = exampleAt(index);
    mixed.push(example);
    missing -= example.tokens.length;
  }
  const batches: CrossEntropyRow[][] = [];
  let room = 0;
  for (const row of new Rng(deriveSeed(recipe.seed, "refine order", round)).shuffle(mixed)) {
    if (room <= 0) {
      batches.push([]);
      room = recipe.batchTokens;
    }
    batches.at(-1)?.push(row);
    room -= row.tokens.length;
  }
  return batches;
}
