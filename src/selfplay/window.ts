import type { Config } from "../config/schema.ts";
import type { Environment } from "../core/environment.ts";
import type { Episode } from "../core/episode.ts";
import { deriveSeed } from "../core/seed.ts";
import type { TrainableTrajectory } from "../core/trajectory.ts";
import { selectReplay } from "../curriculum/archive.ts";
import type { Rank, SamplingTasks } from "../policy/sampling-tasks.ts";
import { type JudgedMutant, mutantEvent, replayedEvent } from "../report/run-rows.ts";
import { readTrajectories } from "../storage/episodes.ts";
import type { IterationWriter } from "../storage/iteration-writer.ts";
import { type Beginning, type Judged, knownEnvironments, nothingJudged } from "./beginning.ts";
import type { Dependencies } from "./dependencies.ts";
import { type Design, isAdmitted, stages } from "./design.ts";
import { designSet } from "./design-set.ts";
import { type RejectedDesign, type Window, type WindowEnvironment, windowEnvironment } from "./measure.ts";
import { judgeMutants } from "./mutants.ts";
import { drawFromPool } from "./pool.ts";
import { recordDesigns } from "./record.ts";
import type { LoopState } from "./state.ts";

/** How a window is sampled. */
export interface WindowSampling {
  readonly tasks: SamplingTasks;
  /** Plays an environment; `rank` begins the ranks of its samples. */
  readonly play: (entry: WindowEnvironment, rank: Rank) => Promise<Episode[]>;
}

/** The environments of an iteration, the designer's calls that made them, and their episodes. */
export interface SampledWindow {
  /** As it was before these episodes. */
  readonly window: Window;
  /** In the order of the window's environments. */
  readonly episodes: readonly Episode[];
  readonly judged: Judged;
  /** Trajectories of the window's designs by id, rejected ones included; read only when the designer is paid. */
  readonly trajectories: () => ReadonlyMap<string, TrainableTrajectory>;
  /** Appends everything but the episodes to the record, in one order whatever happened first. */
  readonly record: (writer: IterationWriter) => void;
}

/** Keeps the window that is open, or designs a new set of environments; a control run draws from its fixed pool instead. Plays it. */
export async function sampleWindow(beginning: Beginning, sampling: WindowSampling, deps: Dependencies): Promise<SampledWindow> {
  if (deps.config.environments.kind !== "selfplay") {
    const { environments, judged, record } = await drawFromPool(beginning, deps);
    const window = { bornAt: beginning.iteration, environments, rejected: [] };
    return { window, episodes: await playAll(window, sampling), judged, trajectories: () => new Map(), record };
  }
  const { window } = beginning.state;
  if (window === undefined) return sampleNewWindow(beginning, sampling, deps);
  return {
    window,
    episodes: await playAll(window, sampling),
    judged: nothingJudged,
    trajectories: () => plainTrajectories(deps, window.bornAt),
    record: (writer) => recordReplayed(writer, window.environments),
  };
}

async function playAll({ environments }: Window, { play }: WindowSampling): Promise<Episode[]> {
  return (await Promise.all(environments.map((entry, i) => play(entry, [stages.play, 0, i])))).flat();
}

/** An environment of a new window and its episodes, which may be under way. */
interface Played {
  readonly entry: WindowEnvironment;
  readonly place: readonly [number, number];
  readonly episodes: Promise<Episode[]>;
}

/**
 * Designs a window. Each environment is played from the moment its hint is judged; replayed environments, and mutants, begin when all
 * candidates are judged.
 */
async function sampleNewWindow(beginning: Beginning, { tasks, play }: WindowSampling, deps: Dependencies): Promise<SampledWindow> {
  const { iteration, state } = beginning;
  const played: Played[] = [];
  const begin = (entry: WindowEnvironment, place: Played["place"]): void => void played.push({ entry, place, episodes: tasks.flow(() => play(entry, [stages.play, ...place])) });
  let mutants: Promise<readonly JudgedMutant[]> = Promise.resolve([]);
  const set = await designSet({ iteration, prefix: String(iteration), state, known: knownEnvironments(beginning, deps) }, tasks, deps, {
    onReady: (admitted) => begin({ ...windowEnvironment(admitted, "designed"), ...slowAverage(admitted.environment, state) }, admitted.place),
    onJudged: (designs, designing) => {
      mutants = tasks.run(() => judgeMutants(designs, designing, deps));
      replay(beginning, replays(designs, deps.config), deps).forEach((entry, i) => begin(entry, [Infinity, i]));
    },
  });
  const ordered = played.sort((a, b) => a.place[0] - b.place[0] || a.place[1] - b.place[1]);
  const episodes = await Promise.all(ordered.map((each) => each.episodes));
  const environments = ordered.map(({ entry }) => entry);
  const judgedMutants = await mutants;
  const rejected = rejectedDesigns(set.designs, deps);
  const trajectories = new Map(set.designs.map((design) => [design.id, design.trajectory]));
  return {
    window: { bornAt: iteration, environments, rejected },
    episodes: episodes.flat(),
    judged: { admitted: set.admitted.map(({ environment, facts }) => ({ environment, facts, iteration })), rejected: rejected.map(({ id }) => id) },
    trajectories: () => trajectories,
    record: (writer) => {
      recordDesigns(writer, { ...set, kinds: deps.kinds });
      if (set.admitted.length === 0) writer.addEvent("nothing-admitted", { candidates: set.designs.length });
      recordReplayed(writer, environments);
      for (const mutant of judgedMutants) writer.addEvent(mutantEvent, mutant);
    },
  };
}

function slowAverage({ skill }: Pick<Environment, "skill">, { curriculum }: LoopState): Pick<WindowEnvironment, "slowAverage"> {
  const slow = curriculum.averages[skill]?.slow;
  return slow === undefined ? {} : { slowAverage: slow };
}

function rejectedDesigns(designs: readonly Design[], { kinds }: Dependencies): RejectedDesign[] {
  return designs.filter((design) => !isAdmitted(design)).map(({ id, task, admission: { facts } }) => ({ id, skill: task.skill, family: facts === undefined ? "invalid" : kinds.family(facts) }));
}

function recordReplayed(writer: IterationWriter, environments: readonly WindowEnvironment[]): void {
  const environmentIds = environments.filter(({ origin }) => origin === "replayed").map(({ environment }) => environment.id);
  if (environmentIds.length > 0) writer.addEvent(replayedEvent, { environmentIds });
}

/** How many environments are replayed beside the admitted designs. */
function replays(designs: readonly Design[], { curriculum, design }: Config): number {
  return curriculum.replayWhenEmpty && !designs.some(isAdmitted) ? Math.max(design.tasksPerIteration, curriculum.replays) : curriculum.replays;
}

/** Environments of the archive, drawn by learnability. They are played but not paid again. */
function replay(beginning: Beginning, count: number, deps: Dependencies): WindowEnvironment[] {
  const { iteration, state } = beginning;
  if (count === 0) return [];
  const chosen = new Set(selectReplay(state.curriculum.archive, count, deriveSeed(deps.config.run.seed, iteration, "replay")).map(({ id }) => id));
  return [...knownEnvironments(beginning, deps)].filter(({ environment }) => chosen.has(environment.id)).map((stored) => windowEnvironment(stored, "replayed"));
}

function plainTrajectories(deps: Dependencies, iteration: number): ReadonlyMap<string, TrainableTrajectory> {
  const stored = readTrajectories(deps.store, iteration, "design");
  return new Map([...stored].map(([id, { role, segments }]) => [id, { role, arm: "plain", segments }]));
}
