import { checkRendering } from "../chat/render-check.ts";
import { deriveSeed } from "../core/seed.ts";
import type { Environment } from "../core/environment.ts";
import type { Episode } from "../core/episode.ts";
import type { UpdateMetrics } from "../policy/policy.ts";
import { playEpisodes } from "../rollout/play.ts";
import type { IterationWriter } from "../storage/iteration-writer.ts";
import { batchRows, creditRows, type PaidDesign } from "./credit.ts";
import { type Dependencies, dialogueOf, stageReporter } from "./dependencies.ts";
import { updateOrSave } from "./failed-batch.ts";
import { observe, type Window } from "./measure.ts";
import { recordCredit } from "./record.ts";
import { afterIteration, type LoopState } from "./state.ts";
import { payDesigns } from "./payment.ts";
import { openWindow } from "./window.ts";

/** What an iteration made, besides the rows it appended. */
export interface IterationResult {
  readonly state: LoopState;
  readonly window: Window;
  readonly episodes: readonly Episode[];
  readonly paid: readonly PaidDesign[];
  readonly updates: readonly UpdateMetrics[];
}

/**
 * One iteration (algorithm, section 1): design environments or keep the window's, play both arms on matched seeds, pay
 * the designer when the window ends, update both roles jointly. Appends to `writer`; changes nothing it was given but
 * the trainer's weights.
 */
export async function runIteration(iteration: number, before: LoopState, deps: Dependencies, writer: IterationWriter): Promise<IterationResult> {
  const opened = await openWindow(iteration, before, deps, writer);
  const episodes = await play(iteration, opened.window, deps);
  writer.addEpisodes(episodes);
  checkEpisodes(episodes, opened.window, deps);
  const window = observe(opened.window, episodes);
  const paid = payDesigns(iteration, window, opened, deps);
  const rows = creditRows(episodes, deps.config.designer.kind === "trained" ? paid : [], deps.config);
  recordCredit(writer, paid, rows);
  const updates = await update(iteration, batchRows(rows), deps);
  return { state: afterIteration(iteration, before, window, deps.config), window, episodes, paid, updates };
}

/** Plays the window's environments: both arms while they are new, the plain arm later and of replayed ones; one list of seeds for both (invariant 5). */
async function play(iteration: number, window: Window, deps: Dependencies): Promise<Episode[]> {
  const { config, policy, sandbox, renderer } = deps;
  const { seedsPerEnvironment, playsPerSeed, hintPlaysPerSeed, sampling, maxTurns } = config.play;
  const report = stageReporter(deps, iteration, "play");
  return playEpisodes({
    environments: window.environments.map(({ environment, origin }) => ({
      environment: { ...(origin === "replayed" ? withoutHint(environment) : environment), maxTurns: Math.min(environment.maxTurns, maxTurns) },
      seeds: Array.from({ length: seedsPerEnvironment }, (_, i) => deriveSeed(config.run.seed, iteration, environment.id, "reset", i)),
    })),
    plays: { plain: playsPerSeed, hint: iteration === window.bornAt ? hintPlaysPerSeed : 0 },
    sampling,
    dialogue: dialogueOf(renderer, config),
    policy,
    sandbox,
    runSeed: config.run.seed,
    iteration,
    onProgress: ({ episodesDone, episodes, tokens }) => report({ done: episodesDone, total: episodes, tokens }),
  });
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

/** Updates on the rows; none when there is no row with signal. */
async function update(iteration: number, rows: ReturnType<typeof batchRows>, deps: Dependencies): Promise<UpdateMetrics[]> {
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
