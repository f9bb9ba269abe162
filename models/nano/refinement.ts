import type { Renderer } from "../../src/chat/renderer.ts";
import { deriveSeed, Rng } from "../../src/core/seed.ts";
import { extractProgram } from "../../src/designer/extract.ts";
import type { CrossEntropyRow } from "../../src/engine/types.ts";
import type { EngineHost } from "../../src/engine/engine.ts";
import type { Tokenizer } from "../../src/engine/tokenizer.ts";
import { admitAll } from "../../src/gates/admit.ts";
import { defaultGates, type GatesConfig } from "../../src/gates/config.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import type { ProgramKinds } from "../../src/selfplay/dependencies.ts";
import { exampleSource, firstOfPhase } from "./data.ts";
import type { DataPlan } from "./data.ts";
import { designerDemonstration } from "./demonstrations.ts";
import { pretrainingDocuments } from "./documents.ts";
import { recipe } from "./recipe.ts";

/** Everything that decides the refinement besides the pretrained model. */
export const refinement = {
  /** Repeating a form is no fault here: the round is balanced by family instead. */
  gates: { novelty: { ...defaultGates.novelty, enabled: false } },
  /** Learning rate of each round. */
  learningRates: [3e-4, 2.25e-4],
  designsPerRound: 600,
  temperature: 0.6,
  maxTokens: 400,
  /** Most of a round's admitted programs that may be of one family. */
  familyShare: 0.1,
} as const;

/** What a round works with. */
export interface RefinementContext {
  readonly plan: DataPlan;
  readonly engine: EngineHost;
  readonly sandbox: Sandbox;
  readonly tokenizer: Tokenizer;
  readonly renderer: Renderer;
  readonly gates: GatesConfig;
  readonly kinds: ProgramKinds;
}

interface Admitted {
  readonly family: string;
  readonly row: CrossEntropyRow;
}

/** Lets the model design on training passages; rows of the admitted programs, no family beyond its share. */
export async function drawDesigns(round: number, context: RefinementContext): Promise<{ readonly admitted: number; readonly families: number; readonly rows: readonly CrossEntropyRow[] }> {
  const { plan, engine, sandbox, tokenizer, renderer, gates } = context;
  const documents = pretrainingDocuments(plan.passages);
  const tasks = Array.from({ length: refinement.designsPerRound }, (_, index) => {
    const { demonstration, document } = designerDemonstration(new Rng(deriveSeed(recipe.seed, "refine", round, index)), documents);
    return { id: `${round}.${index}`, document, prompt: renderer.prompt(demonstration.messages) };
  });
  const { temperature, maxTokens } = refinement;
  const samples = await engine.sample(tasks.map(({ id, prompt }) => ({ prompt, temperature, topP: 1, topK: 0, maxTokens, stopToken: tokenizer.special.end, seed: deriveSeed(recipe.seed, "refine", id) })));
  const texts = samples.map(({ tokens }) => renderer.text(tokens));
  const candidates = tasks.map(({ id, document }, index) => ({ id, text: texts[index] ?? "", document, extraction: extractProgram(texts[index] ?? "") }));
  const admissions = await admitAll(candidates, { sandbox, config: gates, seed: recipe.seed });
  const admitted = admissions.flatMap(({ record, facts }, index): Admitted[] => {
    const [prompt, tokens] = [tasks[index]?.prompt, samples[index]?.tokens];
    if (record.verdict !== "admitted" || facts === undefined || prompt === undefined || tokens === undefined) return [];
    return [{ family: context.kinds.family(facts), row: designRow(prompt, tokens) }];
  });
  const families = Map.groupBy(admitted, ({ family }) => family);
  const most = Math.max(1, Math.ceil(refinement.familyShare * admitted.length));
  return { admitted: admitted.length, families: families.size, rows: [...families.values()].flatMap((members) => members.slice(0, most)).map(({ row }) => row) };
}

/** Prompt and what was sampled, which alone carries loss. */
function designRow(prompt: Int32Array, sampled: Int32Array): CrossEntropyRow {
  const tokens = Int32Array.from([...prompt, ...sampled]);
  return { tokens, weights: Float32Array.from(tokens, (_, at) => (at < prompt.length ? 0 : 1)) };
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
