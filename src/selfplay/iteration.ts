import { checkRendering } from "../chat/render-check.ts";
import { deriveSeed } from "../core/seed.ts";
import type { Environment } from "../core/environment.ts";
import type { Episode } from "../core/episode.ts";
import type { TrainingRow, UpdateMetrics } from "../policy/policy.ts";
import { SamplingTasks } from "../policy/sampling-tasks.ts";
import { playEnvironment, Progress } from "../rollout/play.ts";
import type { IterationWriter } from "../storage/iteration-writer.ts";
import type { Beginning } from "./beginning.ts";
import { batchRows, creditRows, type PaidDesign } from "./credit.ts";
import { type Dependencies, dialogueOf, stageReporter } from "./dependencies.ts";
import { updateOrSave } from "./failed-batch.ts";
import { observe, type Window } from "./measure.ts";
import { recordCredit } from "./record.ts";
import { afterIteration, type LoopState } from "./state.ts";
import { payDesigns } from "./payment.ts";
import { type SampledWindow, sampleWindow, type WindowSampling } from "./window.ts";

/** What was learned from an iteration's episodes before the update; all of it is in the record. */
export interface CreditedIteration {
  readonly state: LoopState;
  readonly window: Window;
  readonly paid: readonly PaidDesign[];
  /** The batch of the update. */
  readonly rows: readonly TrainingRow[];
}

/**
 * The first part of an iteration (algorithm, section 1): designs environments or keeps the window's, and plays both arms on matched seeds.
 * With a concurrent policy no design and no episode waits for another. Writes nothing, so that it may go on while the iteration before is
 * updated and committed; `signal` ends it.
 */
export function sampleIteration(beginning: Beginning, deps: Dependencies, signal?: AbortSignal): Promise<SampledWindow> {
  return SamplingTasks.during((tasks) => sampleWindow(beginning, { tasks, play: player(beginning.iteration, tasks, deps) }, deps), signal);
}

/** The second part: appends what was sampled, pays the designer when the window ends, and computes advantages of both roles. */
export function creditIteration({ iteration, state: before }: Beginning, sampled: SampledWindow, deps: Dependencies, writer: IterationWriter): CreditedIteration {
  const { episodes } = sampled;
  sampled.record(writer);
  writer.addEpisodes(episodes);
  checkEpisodes(episodes, sampled.window, deps);
  const window = observe(sampled.window, episodes);
  const paid = payDesigns(iteration, window, sampled, deps);
  const rows = creditRows(episodes, deps.config.designer.kind === "trained" ? paid : [], deps.config);
  recordCredit(writer, paid, rows);
  return { state: afterIteration(iteration, before, window, deps.config), window, paid, rows: batchRows(rows) };
}

/** Plays environments: both arms while they are new, the plain arm later and of replayed ones; one list of seeds for both (invariant 5). */
function player(iteration: number, tasks: SamplingTasks, deps: Dependencies): WindowSampling["play"] {
  const { config, policy, sandbox, renderer } = deps;
  const { seedsPerEnvironment, playsPerSeed, hintPlaysPerSeed, sampling, maxTurns } = config.play;
  let report: ReturnType<typeof stageReporter> | undefined;
  const progress = new Progress(({ episodesDone, episodes, tokens }) => (report ??= stageReporter(deps, iteration, "play"))({ done: episodesDone, total: episodes, tokens }));
  const shared = { sampling, dialogue: dialogueOf(renderer, config), policy, sandbox, runSeed: config.run.seed, iteration, tasks, progress };
  return ({ environment, origin, generation }, rank) => {
    const played = {
      environment: { ...(origin === "replayed" ? withoutHint(environment) : environment), maxTurns: Math.min(environment.maxTurns, maxTurns) },
      seeds: Array.from({ length: seedsPerEnvironment }, (_, i) => deriveSeed(config.run.seed, iteration, environment.id, "reset", i)),
    };
    return playEnvironment(played, { ...shared, plays: { plain: playsPerSeed, hint: generation === undefined ? hintPlaysPerSeed : 0 }, rank });
  };
}

/** Renders a share of the episodes again before they are trained on. @throws chat.replay */
function checkEpisodes(episodes: readonly Episode[], window: Window, { config, renderer }: Dependencies): void {
  const hints = new Map(window.environments.map(({ environment }) => [environment.id, environment.hint]));
  const { prompt } = dialogueOf(renderer, config);
  checkRendering(episodes, {
    renderer,
    opening: ({ arm, environmentId }, observation) => prompt(observation, arm === "hint" ? hints.get(environmentId) : undefined),
    share: config.play.renderCheckShare,
    seed: config.run.seed,
  });
}

/** A replayed environment is played plain: its regret is known. */
function withoutHint({ id, program, skill, documentId, trivialWinRate, maxTurns }: Environment): Environment {
  return { id, program, skill, documentId, trivialWinRate, maxTurns };
}

/** The last part: updates both roles jointly on the rows; not at all when there is no row with signal. */
export async function updatePolicy(iteration: number, rows: readonly TrainingRow[], deps: Dependencies): Promise<UpdateMetrics[]> {
  const { config, trainer, store } = deps;
  const { updatesPerIteration, loss, optimiser } = config.update;
  const report = stageReporter(deps, iteration, "update");
  const updates: UpdateMetrics[] = [];
  if (rows.length === 0) return updates;
  report({ done: 0, total: updatesPerIteration });
  for (let i = 0; i < updatesPerIteration; i++) {
    const batch = { rows, seed: deriveSeed(config.run.seed, iteration, "update", i) };
    updates.push(await updateOrSave(trainer, { batch, loss, optimiser }, { directory: store.directory, iteration }));
    report({ done: i + 1, total: updatesPerIteration, tokens: updates.reduce((sum, { tokens }) => sum + tokens, 0) });
  }
  return updates;
}
