import type { Clock } from "../core/clock.ts";
import type { AnyRenderer, Renderer } from "../chat/renderer.ts";
import { actionReader } from "../chat/action.ts";
import { mergeInputs } from "../config/merge.ts";
import type { Config } from "../config/schema.ts";
import type { Corpus } from "../corpus/corpus.ts";
import { promptSets } from "../designer/prompt-sets.ts";
import type { Prompts } from "../designer/prompts.ts";
import type { Auditor } from "../gates/audit.ts";
import { defaultGates, type GatesConfig } from "../gates/config.ts";
import type { AnyPolicy, Policy, Trainer } from "../policy/policy.ts";
import type { Suite } from "../evaluation/suite.ts";
import type { Dialogue } from "../rollout/episode.ts";
import type { ProgramFacts, Sandbox } from "../sandbox/sandbox.ts";
import type { RunStore } from "../storage/run-store.ts";
import type { Listener, Stage } from "./events.ts";

/** What is known of the warm start's demonstrations: tells families apart and new programs from old ones. */
export interface ProgramKinds {
  /** Name of the demonstration family a program is nearest to, or "new". */
  family(facts: Pick<ProgramFacts, "shingles" | "skeleton">): string;
  /** Whether no demonstration has this skeleton; absent when the model brings no list. */
  isNovel(skeleton: string): boolean | undefined;
}

/** A policy of either kind and how it is spoken to. */
export interface Speaker {
  readonly policy: AnyPolicy;
  readonly renderer: AnyRenderer;
}

/** Who writes programs and hints: the policy that plays, or one of its own. */
export interface Designer extends Speaker {
  readonly prompts: Prompts;
}

/** The designer of a configuration; `own` is the policy of a fixed one. */
export function designerOf({ designer, prompts }: Pick<Config, "designer" | "prompts">, playing: Speaker, own = playing): Designer {
  const { policy, renderer } = own;
  return { policy, renderer, prompts: promptSets[(designer.kind === "fixed" ? designer.prompts : undefined) ?? prompts] };
}

/** The gates of a configuration; where designs have no document, there is nothing to be grounded in. */
export function gatesOf({ gates, play, design, environments }: Config): GatesConfig {
  const merged = mergeInputs(defaultGates, gates) as GatesConfig;
  const grounded = merged.grounded.enabled && design.documents && (environments.kind === "selfplay" || environments.kind === "frozenPool");
  return { ...merged, maxTurns: play.maxTurns, grounded: { ...merged.grounded, enabled: grounded } };
}

/** What designing needs: nobody who plays, and no trainer. */
export interface DesignDependencies {
  readonly config: Config;
  readonly gates: GatesConfig;
  readonly designer: Designer;
  /** Writes the hints instead of the designer, where the configuration says so. */
  readonly hinter?: Designer;
  /** Present when gate `audit` is on. */
  readonly auditor?: Auditor;
  readonly sandbox: Sandbox;
  readonly corpus: Corpus;
  readonly kinds: ProgramKinds;
  readonly store: RunStore;
  readonly clock: Clock;
  readonly listener: Listener;
}

/** Everything a stage of a run may use besides its input. */
export interface Dependencies extends DesignDependencies {
  readonly policy: Policy;
  readonly trainer: Trainer;
  readonly renderer: Renderer;
  readonly suites: readonly Suite[];
}

/** How episodes speak: the configured prompts, and actions as the policy writes them. */
export function dialogueOf(renderer: AnyRenderer, { prompts, play }: Pick<Config, "prompts" | "play">): Dialogue {
  return { renderer, prompt: promptSets[prompts].play, parseAction: actionReader(play.toolCalls) };
}

/** Reports the progress of one stage to the listener. `tokens` are sampled or trained so far in the stage. */
export function stageReporter(deps: Pick<Dependencies, "clock" | "listener">, iteration: number, stage: Stage): (progress: { done: number; total: number; tokens?: number }) => void {
  const begin = deps.clock();
  return ({ done, total, tokens = 0 }) =>
    deps.listener({ kind: "stage", iteration, stage, done, total, tokens, seconds: (deps.clock() - begin) / 1000 });
}
