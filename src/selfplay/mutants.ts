import { deriveSeed, Rng } from "../core/seed.ts";
import { extractProgram } from "../designer/extract.ts";
import type { ArchivedProgram } from "../gates/novelty.ts";
import { mutationOperators } from "../gates/mutants/operators.ts";
import { type MutantBase, tryMutant } from "../gates/mutants/trial.ts";
import { overLanes } from "../gates/over-lanes.ts";
import type { JudgedMutant } from "../report/run-rows.ts";
import { type Dependencies, stageReporter } from "./dependencies.ts";
import { type Design, type Designing, isAdmitted } from "./design.ts";

/**
 * Judges mutants beside the candidates: a candidate is followed by one with probability `gates.mutants.rate`, made of a
 * design that was admitted in this iteration, by an operator whose fault execution can reveal; none when nothing was
 * admitted. What it returns is for the record only: a mutant cannot reach play, archive, pay or batch.
 */
export async function judgeMutants(designs: readonly Design[], { iteration, archive }: Pick<Designing, "iteration" | "archive">, deps: Dependencies): Promise<JudgedMutant[]> {
  const { config, gates, sandbox, clock } = deps;
  const admitted = designs.filter(isAdmitted);
  const drawn = designs.map(({ id }) => ({ id, rng: new Rng(deriveSeed(config.run.seed, id, "mutant")) })).filter(({ rng }) => rng.chance(gates.mutants.rate));
  if (admitted.length === 0 || drawn.length === 0) return [];
  const report = stageReporter(deps, iteration, "mutants");
  report({ done: 0, total: drawn.length });
  let done = 0;
  const judged = await overLanes(sandbox.lanes, drawn, async ({ id, rng }, lane): Promise<JudgedMutant | undefined> => {
    const mutant = await judgeOne(rng, admitted, { ...deps, archive, lane, config: gates, clock, seed: config.run.seed });
    report({ done: ++done, total: drawn.length });
    return mutant === undefined ? undefined : { beside: id, ...mutant };
  });
  return judged.filter((mutant) => mutant !== undefined);
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
