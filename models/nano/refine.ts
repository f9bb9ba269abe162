import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { embeddedRenderer } from "../../src/chat/renderer.ts";
import { loadConfig } from "../../src/config/load.ts";
import { monotonicClock } from "../../src/core/clock.ts";
import { EngineHost } from "../../src/engine/engine.ts";
import { loadTokenizer } from "../../src/engine/bpe.ts";
import { openSandbox } from "../../src/sandbox/pool.ts";
import { embedded } from "../../src/policy/embedded.ts";
import { loadProgramKinds } from "../../src/selfplay/program-kinds.ts";
import { planOf } from "./data.ts";
import { drawDesigns, refinement, refinementBatches } from "./refinement.ts";
import type { RefinementContext } from "./refinement.ts";
import { recipe } from "./recipe.ts";

/** What a refinement needs. */
export interface RefineOptions {
  /** Directory of the pretraining run; a round that a former run finished is kept there. */
  readonly state: string;
  /** Directory of the pretrained model; the refined one replaces it. */
  readonly model: string;
  readonly threads: number;
  readonly report: (line: string) => void;
}

/**
 * The last stage of the warm start: in a few rounds the model designs on training passages, the gates judge, and it is
 * trained on its own admitted programs beside fresh demonstrations.
 */
export async function refine({ state, model, threads, report }: RefineOptions): Promise<void> {
  const plan = await planOf(state);
  const { config } = loadConfig("quickstart");
  const tokenizer = await loadTokenizer(join(model, "tokenizer.json"));
  const finished = await finishedRounds(state);
  const directory = finished === 0 ? model : roundDirectory(state, finished);
  const engine = await EngineHost.create({ source: { kind: "directory", directory }, threads });
  const sandbox = await openSandbox({ lanes: threads, limits: config.sandbox.limits });
  const { policy } = await embedded(engine, { stopToken: tokenizer.special.end, maxPolicyLag: 0, keepReference: false, allowSamplingMismatch: false });
  const context: RefinementContext = { plan, policy, sandbox, renderer: embeddedRenderer(tokenizer), maxTurns: config.play.maxTurns, kinds: loadProgramKinds(model) };
  try {
    for (const [round, learningRate] of refinement.learningRates.entries()) {
      if (round < finished) continue;
      report(await refineOnce({ round, learningRate, engine, context }));
      await keepRound(state, round + 1, engine);
    }
    await engine.save(model, { optimiser: false });
  } finally {
    await Promise.all([engine.close(), sandbox.close()]);
  }
}

/** One round: design, judge, train. Returns what to report. */
async function refineOnce({ round, learningRate, engine, context }: { round: number; learningRate: number; engine: EngineHost; context: RefinementContext }): Promise<string> {
  const started = monotonicClock();
  const drawn = await drawDesigns(round, context);
  const losses: number[] = [];
  for (const batch of refinementBatches(round, drawn.rows, context.plan)) losses.push((await engine.crossEntropyStep(batch, { ...recipe.optimiser, learningRate })).loss);
  const minutes = ((monotonicClock() - started) / 60_000).toFixed(1);
  const loss = losses.reduce((sum, value) => sum + value, 0) / Math.max(1, losses.length);
  return `round ${round + 1} of ${refinement.learningRates.length}  good ${drawn.admitted} of ${refinement.designsPerRound}  trained on ${drawn.rows.length}  families ${drawn.families}  ${losses.length} steps  loss ${loss.toFixed(3)}  ${minutes} min`;
}

const roundDirectory = (state: string, round: number): string => join(state, `refined-${round}`);

async function finishedRounds(state: string): Promise<number> {
  const rounds = (await readdir(state)).map((name) => Number(/^refined-(\d+)$/.exec(name)?.[1] ?? 0));
  return Math.max(0, ...rounds);
}

async function keepRound(state: string, round: number, engine: EngineHost): Promise<void> {
  const partial = join(state, "refined-partial");
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  await engine.save(partial, { optimiser: true });
  await rename(partial, roundDirectory(state, round));
}
