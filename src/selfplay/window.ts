import type { Config } from "../config/schema.ts";
import { noDocument } from "../core/environment.ts";
import { invariant } from "../core/errors.ts";
import { deriveSeed } from "../core/seed.ts";
import type { TrainableTrajectory } from "../core/trajectory.ts";
import { selectExamples, selectReplay } from "../curriculum/archive.ts";
import { activeSkills, assignSkills } from "../curriculum/rotation.ts";
import { replayedEvent, type StoredEnvironment, storedEnvironments } from "../report/run-rows.ts";
import { readTrajectories } from "../storage/episodes.ts";
import type { IterationWriter } from "../storage/iteration-writer.ts";
import type { Dependencies, DesignDependencies } from "./dependencies.ts";
import { admittedEnvironments, type AdmittedDesign, type Design, isAdmitted, writeDesigns, writeHints } from "./design.ts";
import type { Window, WindowEnvironment } from "./measure.ts";
import { judgeMutants } from "./mutants.ts";
import { drawFromPool } from "./pool.ts";
import { type ArchivedTask, recordDesigns, storedFacts } from "./record.ts";
import type { LoopState } from "./state.ts";

/** The environments of this iteration and the designer's calls that made them. */
export interface OpenedWindow {
  readonly window: Window;
  /** Trajectories of the window's designs by id, rejected ones included; read only when the designer is paid. */
  readonly trajectories: () => ReadonlyMap<string, TrainableTrajectory>;
}

/** Keeps the window that is open, or designs a new set of environments; a control run draws from its fixed pool instead. */
export async function openWindow(iteration: number, state: LoopState, deps: Dependencies, writer: IterationWriter): Promise<OpenedWindow> {
  if (deps.config.environments.kind !== "selfplay") return { window: await drawFromPool(iteration, state, deps, writer), trajectories: () => new Map() };
  const { window } = state;
  if (window !== undefined) {
    recordReplayed(writer, window.environments);
    return { window, trajectories: () => plainTrajectories(deps, window.bornAt) };
  }
  const { tasks, designs, admitted } = await designSet({ iteration, prefix: String(iteration) }, state, deps, writer);
  const rejected = designs.filter((design) => !isAdmitted(design)).map((design) => ({ id: design.id, skill: design.task.skill, family: design.admission.facts === undefined ? "invalid" : deps.kinds.family(design.admission.facts) }));
  const replayed = replay(iteration, admitted.length > 0 ? deps.config.curriculum.replays : emptyReplays(tasks.length, deps.config), state, deps);
  const environments = [...admitted.map((design) => ({ ...windowEnvironment(design, deps), ...slowAverage(design, state) })), ...replayed];
  if (admitted.length === 0) writer.addEvent("nothing-admitted", { candidates: designs.length });
  recordReplayed(writer, environments);
  await judgeMutants(iteration, designs, deps, writer);
  const trajectories = new Map(designs.map((design) => [design.id, design.trajectory]));
  return { window: { bornAt: iteration, environments, rejected }, trajectories: () => trajectories };
}

/** A set of environments to design; `prefix` begins its tasks' ids and names their seeds. */
interface DesignSet {
  readonly iteration: number;
  readonly prefix: string;
  /** At most so many of the tasks. Default: all. */
  readonly tasks?: number;
}

/** Designs one set: tasks, candidates, gates, hints; appends all of it to the record. */
export async function designSet(set: DesignSet, state: LoopState, deps: DesignDependencies, writer: IterationWriter): Promise<{ readonly tasks: readonly ArchivedTask[]; readonly designs: readonly Design[]; readonly admitted: readonly AdmittedDesign[] }> {
  const tasks = designTasks(set, state, deps);
  const designs = await writeDesigns(set.iteration, tasks, deps);
  const hints = await writeHints(set.iteration, designs.filter(isAdmitted), deps);
  recordDesigns(writer, { tasks, designs, hints, kinds: deps.kinds });
  return { tasks, designs, admitted: admittedEnvironments(designs, hints) };
}

function designTasks({ iteration, prefix, tasks }: DesignSet, state: LoopState, deps: DesignDependencies): ArchivedTask[] {
  const { config, corpus } = deps;
  const { skills, activeSkills: active, tasksPerIteration, documents: grounded, positives, negatives } = config.design;
  const assigned = assignSkills(activeSkills(skills, active, state.round), tasksPerIteration);
  const seedOf = (purpose: string, index: number): number => deriveSeed(config.run.seed, prefix, "task", purpose, index);
  const documents = assigned.map((_, index) => !grounded ? noDocument : corpus.draw({ seed: config.run.seed, iteration: state.round, index, perIteration: tasksPerIteration }));
  return assigned.slice(0, tasks).map((skill, index) => {
    const document = documents[index];
    invariant(document !== undefined, "the corpus gives one document per seed");
    const examples = selectExamples(state.curriculum.archive, { skill, iteration, positives, negatives, seed: seedOf("examples", index) }, config.curriculum);
    return { id: `${prefix}.${index}`, skill, documentId: document.id, documentText: document.text, documentSource: document.source, examples, exampleIds: examples.map((example) => example.environmentId) };
  });
}

/** An admitted design as the window keeps it. */
export function windowEnvironment({ environment, facts, programTokens }: AdmittedDesign, deps: Dependencies): WindowEnvironment {
  return storedWindowEnvironment({ environment, facts: storedFacts(facts, programTokens, deps.kinds) }, "designed");
}

/** An environment of the record as the window keeps it. */
export function storedWindowEnvironment({ environment, facts }: Pick<StoredEnvironment, "environment" | "facts">, origin: WindowEnvironment["origin"]): WindowEnvironment {
  const { family, skeleton, stateVariables, programTokens } = facts;
  return { environment, family, skeleton, stateVariables, programTokens, arms: [], timedOut: false, origin };
}

function slowAverage({ environment: { skill } }: AdmittedDesign, { curriculum }: LoopState): Pick<WindowEnvironment, "slowAverage"> {
  const slow = curriculum.averages[skill]?.slow;
  return slow === undefined ? {} : { slowAverage: slow };
}

function recordReplayed(writer: IterationWriter, environments: readonly WindowEnvironment[]): void {
  const environmentIds = environments.filter(({ origin }) => origin === "replayed").map(({ environment }) => environment.id);
  if (environmentIds.length > 0) writer.addEvent(replayedEvent, { environmentIds });
}

const emptyReplays = (tasks: number, { curriculum }: Config): number => (curriculum.replayWhenEmpty ? Math.max(tasks, curriculum.replays) : curriculum.replays);

/** Environments of the archive, drawn by learnability. They are played but not paid again. */
function replay(iteration: number, count: number, state: LoopState, deps: Dependencies): WindowEnvironment[] {
  const { config, store } = deps;
  if (count === 0) return [];
  const chosen = new Set(selectReplay(state.curriculum.archive, count, deriveSeed(config.run.seed, iteration, "replay")).map(({ id }) => id));
  return [...storedEnvironments(store)].filter(({ id }) => chosen.has(id)).map((environment) => storedWindowEnvironment(environment, "replayed"));
}

function plainTrajectories(deps: Dependencies, iteration: number): ReadonlyMap<string, TrainableTrajectory> {
  const stored = readTrajectories(deps.store, iteration, "design");
  return new Map([...stored].map(([id, { role, segments }]) => [id, { role, arm: "plain", segments }]));
}
