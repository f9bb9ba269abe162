import { deriveSeed, Rng } from "../core/seed.ts";
import { extractProgram } from "../designer/extract.ts";
import type { ArchivedProgram } from "../gates/novelty.ts";
import { mutationOperators } from "../gates/mutants/operators.ts";
import { type MutantBase, tryMutant } from "../gates/mutants/trial.ts";
import { overLanes } from "../gates/over-lanes.ts";
import { type JudgedMutant, mutantEvent } from "../report/run-rows.ts";
import type { IterationWriter } from "../storage/iteration-writer.ts";
import { type Dependencies, stageReporter } from "./dependencies.ts";
import { type Design, earlierPrograms, isAdmitted } from "./design.ts";

/**
 * Judges mutants beside the candidates: a candidate is followed by one with probability `gates.mutants.rate`, made of a
 * design that was admitted in this iteration, by an operator whose fault execution can reveal; none when nothing was
 * admitted. Appends an event per mutant and returns nothing: a mutant cannot reach play, archive, pay or batch.
 */
export async function judgeMutants(iteration: number, designs: readonly Design[], deps: Dependencies, writer: IterationWriter): Promise<void> {
  const { config, gates, sandbox, clock } = deps;
  const admitted = designs.filter(isAdmitted);
  const drawn = designs.map(({ id }) => ({ id, rng: new Rng(deriveSeed(config.run.seed, id, "mutant")) })).filter(({ rng }) => rng.chance(gates.mutants.rate));
  if (admitted.length === 0 || drawn.length === 0) return;
  const report = stageReporter(deps, iteration, "mutants");
  report({ done: 0, total: drawn.length });
  const archive = earlierPrograms(deps);
  let done = 0;
  const judged = await overLanes(sandbox.lanes, drawn, async ({ id, rng }, lane): Promise<JudgedMutant | undefined> => {
    const mutant = await judgeOne(rng, admitted, { ...deps, archive, lane, config: gates, clock, seed: config.run.seed });
    report({ done: ++done, total: drawn.length });
    return mutant === undefined ? undefined : { beside: id, ...mutant };
  });
  for (const mutant of judged) if (mutant !== undefined) writer.addEvent(mutantEvent, mutant);
}

type JudgeOptions = Omit<Parameters<typeof tryMutant>[2], "extract"> & { readonly archive: readonly ArchivedProgram[] };

/** A mutant of one of the designs by the first operator, in drawn order, that applies to it. */
async function judgeOne(rng: Rng, designs: readonly Design[], options: JudgeOptions): Promise<Omit<JudgedMutant, "beside"> | undefined> {
  const { id, task, admission } = rng.pick(designs);
  if (admission.program === undefined) return undefined;
  const base: MutantBase = { name: id, program: admission.program, document: task.documentText };
  for (const operator of rng.shuffle(mutationOperators.filter(({ kind }) => kind === "executable"))) {
    const verdict = await tryMutant(operator, base, { ...options, extract: extractProgram });
    if (verdict !== undefined) return { of: id, operator: operator.id, ...verdict };
  }
  return undefined;
}
