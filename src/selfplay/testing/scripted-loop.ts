import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embeddedRenderer, type Renderer } from "../../chat/renderer.ts";
import { textRenderer } from "../../chat/text-renderer.ts";
import { loadConfig } from "../../config/load.ts";
import { monotonicClock } from "../../core/clock.ts";
import type { Episode } from "../../core/episode.ts";
import { fence } from "../../designer/prompts.ts";
import { bakeryDocument } from "../../gates/testing/programs.ts";
import type { Policy, SampleRequest, TextPolicy, Trainer, TrainingRow, UpdateMetrics } from "../../policy/policy.ts";
import { scriptedPolicy, type ScriptedPrompt } from "../../policy/scripted.ts";
import { byteTokenizer } from "../../policy/testing/byte-tokenizer.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { RunStore } from "../../storage/run-store.ts";
import { nothingJudged } from "../beginning.ts";
import { openConfiguredCorpus } from "../corpus.ts";
import { type Dependencies, designerOf, gatesOf } from "../dependencies.ts";
import type { RunEvent } from "../events.ts";
import { creditIteration, type CreditedIteration, sampleIteration, updatePolicy } from "../iteration.ts";
import { preparePool } from "../pool.ts";
import { initialState, type LoopState } from "../state.ts";
import type { SampledWindow } from "../window.ts";

/** A trainer that learns nothing and keeps what it was given. */
export interface RecordingTrainer extends Trainer {
  /** Rows of each update. */
  readonly batches: readonly (readonly TrainingRow[])[];
}

/** What an iteration made, besides the rows it appended. */
export interface IterationResult extends CreditedIteration {
  readonly episodes: readonly Episode[];
  readonly updates: readonly UpdateMetrics[];
}

/** The loop with a scripted policy, a recording trainer and the real gates and sandbox. */
export interface ScriptedLoop {
  readonly store: RunStore;
  readonly trainer: RecordingTrainer;
  /** Everything that was sampled, in order. */
  readonly requests: readonly SampleRequest[];
  readonly events: readonly RunEvent[];
  /** Runs and commits the next iteration. */
  next(): Promise<IterationResult>;
  state(): LoopState;
  close(): void;
}

function recordingTrainer(): RecordingTrainer {
  const batches: (readonly TrainingRow[])[] = [];
  return {
    batches,
    get policyVersion() {
      return batches.length;
    },
    update: ({ rows }) => {
      batches.push(rows);
      return Promise.resolve({ policyVersion: batches.length, loss: 0, gradientNorm: 0, entropy: {}, kl: {}, clipFraction: 0, logprobGap: 0, tokens: 0 });
    },
    save: () => Promise.resolve(),
    load: () => Promise.resolve(),
  };
}

/** What each voice of the policy says; `iteration` is the one under way. */
export interface Script {
  readonly design: (prompt: ScriptedPrompt, iteration: number) => string;
  readonly hint: (prompt: ScriptedPrompt, iteration: number) => string;
  readonly act: (prompt: ScriptedPrompt, iteration: number) => string;
}

/** A design as the designer writes it. */
export const written = (source: string): string => `Here it is.\n${fence(source)}`;

export interface ScriptedLoopOptions {
  readonly renderer?: Renderer;
  /** A request is answered when this is done. Default: at once. */
  readonly delay?: (request: SampleRequest) => Promise<void>;
  /** Whether the policy is a concurrent one. Default: if there is a delay. */
  readonly concurrent?: boolean;
  /** Samples each iteration before the one before it is committed, as `update.asynchronous` does. Default: no. */
  readonly ahead?: boolean;
}

/** Sets up a run in a directory of its own, with iteration 0 committed. */
export async function scriptedLoop(sandbox: Sandbox, script: Script, changes: object = {}, { renderer = embeddedRenderer(byteTokenizer), delay, concurrent = delay !== undefined, ahead = false }: ScriptedLoopOptions = {}): Promise<ScriptedLoop> {
  const root = mkdtempSync(join(tmpdir(), "spade-loop-"));
  writeFileSync(join(root, "corpus.jsonl"), `${JSON.stringify({ text: bakeryDocument })}\n`);
  const { config, digest } = loadConfig("smoke", { play: { contextLength: 4096, sampling: { maxTokens: 200 } }, ...changes });
  const corpus = await openConfiguredCorpus({ ...config.corpus, paths: [join(root, "corpus.jsonl")] }, { readVariable: () => undefined, cacheDirectory: root });
  const store = RunStore.create(join(root, "run"), { name: "scripted", programVersion: "0", config, configDigest: digest, provenance: {} });
  const [requests, events, trainer]: [SampleRequest[], RunEvent[], RecordingTrainer] = [[], [], recordingTrainer()];
  let [iteration, state] = [0, initialState];
  let next: Promise<SampledWindow> | undefined;
  const respond = (prompt: ScriptedPrompt): string => voice(script, prompt)(prompt, iteration);
  const scripted = scriptedPolicy({ tokenizer: byteTokenizer, contextLength: 16_384, respond });
  const policy: Policy = {
    contextLength: scripted.contextLength,
    concurrent,
    sample: async (asked) => {
      requests.push(...asked);
      if (delay !== undefined) await Promise.all(asked.map(delay));
      return (await scripted.sample(asked)).map((sample) => ({ ...sample, policyVersion: trainer.policyVersion }));
    },
  };
  const kinds = { family: ({ skeleton }: { skeleton: string }) => skeleton, isNovel: () => undefined };
  // A fixed designer is behind an endpoint that gives text.
  const designing = config.designer.kind === "fixed" ? { policy: textPolicy(respond), renderer: textRenderer } : { policy, renderer };
  const deps: Dependencies = { config, gates: gatesOf(config), policy, designer: designerOf(config, { policy, renderer }, designing), trainer, renderer, sandbox, corpus, suites: [], kinds, store, clock: monotonicClock, listener: (event) => events.push(event) };
  const first = store.beginIteration(0);
  await preparePool(initialState, deps, first);
  first.commit({ policyVersion: 0 });
  return {
    store,
    trainer,
    requests,
    events,
    state: () => state,
    next: async () => {
      const beginning = { iteration: (store.lastIteration() ?? 0) + 1, state, uncommitted: nothingJudged };
      iteration = beginning.iteration;
      const sampled = await (next ?? sampleIteration(beginning, deps));
      const writer = store.beginIteration(beginning.iteration);
      const credited = creditIteration(beginning, sampled, deps, writer);
      if (ahead) next = sampleIteration({ iteration: ++iteration, state: credited.state, uncommitted: sampled.judged }, deps);
      await next;
      const updates = await updatePolicy(beginning.iteration, credited.rows, deps);
      writer.commit({ policyVersion: trainer.policyVersion });
      state = JSON.parse(JSON.stringify(credited.state)) as LoopState;
      return { ...credited, episodes: sampled.episodes, updates };
    },
    close: () => {
      corpus.close();
      store.close();
      rmSync(root, { recursive: true });
    },
  };
}

/** Says as text what a scripted policy would say as tokens. */
function textPolicy(respond: (prompt: ScriptedPrompt) => string): TextPolicy {
  return {
    contextLength: Infinity,
    sample: (asked) =>
      Promise.resolve(
        asked.map(({ prompt, seed }) => {
          const messages = prompt.map(({ role, content: text }) => ({ role: role === "tool" ? "user" : role, text }) as const);
          return { text: respond({ messages, last: messages.at(-1)?.text ?? "", seed }), tokenCount: 0, stop: "stop", policyVersion: 0 };
        }),
      ),
  };
}

function voice(script: Script, { messages }: ScriptedPrompt): Script[keyof Script] {
  const system = messages[0]?.text ?? "";
  return /^(designer$|You design)/.test(system) ? script.design : /^(hint$|You advise)/.test(system) ? script.hint : script.act;
}
