import { type Environment, noDocument } from "../core/environment.ts";
import { invariant } from "../core/errors.ts";
import { deriveSeed } from "../core/seed.ts";
import { selectExamples } from "../curriculum/archive.ts";
import { activeSkills, assignSkills } from "../curriculum/rotation.ts";
import type { SamplingTasks } from "../policy/sampling-tasks.ts";
import type { StoredEnvironment, StoredFacts } from "../report/run-rows.ts";
import type { DesignDependencies } from "./dependencies.ts";
import { beginDesigning, type Design, type Designing, earlierPrograms, type HintCall, isAdmitted, stages, writeDesigns, writeHint } from "./design.ts";
import { admittedProgram, type ArchivedTask } from "./record.ts";
import type { LoopState } from "./state.ts";

/** A set of environments to design. */
export interface SetToDesign {
  readonly iteration: number;
  /** Begins the tasks' ids and names their seeds. */
  readonly prefix: string;
  /** At most so many of the tasks. Default: all. */
  readonly count?: number;
  readonly state: LoopState;
  /** Environments of earlier iterations. */
  readonly known: Iterable<StoredEnvironment>;
}

/** An admitted design, ready to be played. */
export interface AdmittedDesign {
  readonly environment: Environment;
  readonly facts: StoredFacts;
  /** Attempt and number of its task: its place among the set's environments. */
  readonly place: readonly [number, number];
}

/** All that the designer wrote for a set, in order of attempt and task. */
export interface DesignedSet {
  readonly tasks: readonly ArchivedTask[];
  readonly designs: readonly Design[];
  readonly hints: readonly HintCall[];
  readonly admitted: readonly AdmittedDesign[];
}

/** What is done while the rest of a set is still being designed. */
export interface DesignSetListener {
  /** Called when a design's hint has been judged. */
  readonly onReady?: (admitted: AdmittedDesign) => void;
  /** Called when the last candidate has been judged. */
  readonly onJudged?: (designs: readonly Design[], designing: Designing) => void;
}

/** Designs a set. No task waits for another one: each goes from candidate to gates to hint by itself. */
export async function designSet(set: SetToDesign, sampling: SamplingTasks, deps: DesignDependencies, { onReady, onJudged }: DesignSetListener = {}): Promise<DesignedSet> {
  const tasks = designTasks(set, deps);
  const designing = beginDesigning(set.iteration, tasks.length, earlierPrograms(set.known, deps), deps);
  const written = tasks.map((task, index) => sampling.run((ask) => writeDesigns(task, index, { ask, designing }, deps)));
  const hinted = written.map((candidates, index) =>
    sampling.flow(async () => {
      const design = (await candidates).find(isAdmitted);
      if (design === undefined) return [];
      const place = [design.attempt, index] as const;
      const hint = await sampling.run((ask) => writeHint(design, { ask, designing, rank: [stages.hint, ...place] }, deps));
      const admitted = admittedDesign(design, hint, { place, deps });
      onReady?.(admitted);
      return [{ hint, admitted }];
    }),
  );
  const designs = (await Promise.all(written)).flatMap((candidates, index) => candidates.map((design) => ({ design, place: [design.attempt, index] as const })));
  const ordered = designs.sort(byPlace).map(({ design }) => design);
  onJudged?.(ordered, designing);
  const made = (await Promise.all(hinted)).flat().sort((a, b) => byPlace(a.admitted, b.admitted));
  return { tasks, designs: ordered, hints: made.map(({ hint }) => hint), admitted: made.map(({ admitted }) => admitted) };
}

function byPlace(a: Pick<AdmittedDesign, "place">, b: Pick<AdmittedDesign, "place">): number {
  return a.place[0] - b.place[0] || a.place[1] - b.place[1];
}

function designTasks({ iteration, prefix, count, state }: SetToDesign, { config, corpus }: DesignDependencies): ArchivedTask[] {
  const { skills, activeSkills: active, tasksPerIteration, documents: grounded, positives, negatives } = config.design;
  const assigned = assignSkills(activeSkills(skills, active, state.round), tasksPerIteration);
  const seedOf = (purpose: string, index: number): number => deriveSeed(config.run.seed, prefix, "task", purpose, index);
  const documents = assigned.map((_, index) => !grounded ? noDocument : corpus.draw({ seed: config.run.seed, iteration: state.round, index, perIteration: tasksPerIteration }));
  return assigned.slice(0, count).map((skill, index) => {
    const document = documents[index];
    invariant(document !== undefined, "the corpus gives one document per seed");
    const examples = selectExamples(state.curriculum.archive, { skill, iteration, positives, negatives, seed: seedOf("examples", index) }, config.curriculum);
    return { id: `${prefix}.${index}`, skill, documentId: document.id, documentText: document.text, documentSource: document.source, examples, exampleIds: examples.map((example) => example.environmentId) };
  });
}

/** An admitted design as it is played, with its hint if that passed. */
function admittedDesign(design: Design, hint: HintCall, { place, deps }: Pick<AdmittedDesign, "place"> & { readonly deps: DesignDependencies }): AdmittedDesign {
  const { environment, facts } = admittedProgram(design, deps);
  return { environment: { ...environment, ...(hint.verdict.verdict === "pass" ? { hint: hint.text } : {}) }, facts, place };
}
