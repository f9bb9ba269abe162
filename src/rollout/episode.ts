import { observationOf, type Rendered, type Renderer } from "../chat/renderer.ts";
import type { ActionForm } from "../core/environment.ts";
import type { Episode, Outcome, Turn } from "../core/episode.ts";
import { invariant } from "../core/errors.ts";
import type { Arm } from "../core/role.ts";
import { append, flatten, lastRow, tokenCount, type Trajectory } from "../core/trajectory.ts";
import type { Sample, SampleRequest, Sampling } from "../policy/policy.ts";
import type { StepValue } from "../sandbox/sandbox.ts";

/** All that fixes one episode but its policy: equal specs and samples give equal episodes. */
export interface EpisodeSpec<A extends Arm = Arm> {
  readonly id: string;
  readonly environmentId: string;
  readonly arm: A;
  readonly seed: number;
  readonly play: number;
  /** Absent in the plain arm; the arms differ in nothing else (invariant 5). */
  readonly hint?: string;
  readonly maxTurns: number;
  readonly contextLength: number;
  readonly sampling: Sampling;
  /** Seed of the sample of a turn, counted from 0 (invariant 4). */
  readonly sampleSeed: (turn: number) => number;
}

/** How an episode speaks: first message, tokens of a message, action in a response. */
export interface Dialogue {
  readonly renderer: Renderer;
  readonly prompt: (observation: string, hint?: string) => { readonly system: string; readonly user: string };
  /** The action in a response, as the environment takes it; undefined when it holds none. */
  readonly parseAction: (response: string, form: ActionForm) => string | undefined;
}

/** An episode between two events. Immutable. */
export interface EpisodeState<A extends Arm = Arm> {
  readonly spec: EpisodeSpec<A>;
  readonly actionForm: ActionForm;
  readonly trajectory: Trajectory<A>;
  readonly turns: readonly Turn[];
  /** What the policy sees now. */
  readonly observation: string;
  /** The conversation so far, as it was rendered; absent when it never began. */
  readonly rendered?: Rendered;
  /** The turn whose action has been read but not yet stepped. */
  readonly acting?: { readonly response: string; readonly action: string };
}

/** What an episode needs next. */
export type Next =
  | { readonly kind: "sample"; readonly state: EpisodeState; readonly request: SampleRequest }
  | { readonly kind: "step"; readonly state: EpisodeState; readonly action: string }
  | { readonly kind: "end"; readonly episode: Episode };

/** Begins an episode on its environment's first observation. */
export function start(spec: EpisodeSpec, { observation, actionForm }: Pick<EpisodeState, "observation" | "actionForm">, dialogue: Dialogue): Next {
  const messages = spec.arm === "hint" ? dialogue.prompt(observation, spec.hint ?? "") : dialogue.prompt(observation);
  const rendered = dialogue.renderer.begin(messages);
  return requestSample({ spec, actionForm, trajectory: append(emptyTrajectory(spec), rendered.segment), turns: [], observation, rendered });
}

/**
 * Takes the policy's sample. Its tokens are kept as they came (invariant 1). A response without an action ends the
 * episode: truncated by `context` or `length` when it was cut short, by `action` when the policy stopped by itself.
 */
export function receiveSample(state: EpisodeState, sample: Sample, dialogue: Dialogue): Next {
  const { tokens, logprobs, policyVersion } = sample;
  const promptLength = tokenCount(lastRow(state.trajectory));
  const trajectory = append(state.trajectory, { kind: "sampled", tokens, logprobs, policyVersion });
  const response = dialogue.renderer.text(tokens);
  const action = dialogue.parseAction(response, state.actionForm);
  if (action !== undefined) return { kind: "step", action, state: { ...state, trajectory, acting: { response, action } } };
  const cutByContext = promptLength + state.spec.sampling.maxTokens > state.spec.contextLength;
  const reason = sample.stop === "stop" ? "action" : cutByContext ? "context" : "length";
  const turns = [...state.turns, { observation: state.observation, response, reward: 0 }];
  return finish({ ...state, trajectory, turns }, { kind: "truncated", reason });
}

/** Takes the environment's answer to the action. What it shows goes on with the row, or starts a new one where the template rewrites the history. */
export function receiveStep(state: EpisodeState, step: StepValue): Next {
  const parse = step.parse === undefined ? {} : { parse: step.parse };
  const turn = { observation: state.observation, ...actingOf(state), reward: step.reward, ...parse };
  const turns = [...state.turns, turn];
  const after = { ...withoutActing(state), turns, observation: step.observation };
  if (step.terminated) return finish(after, { kind: "terminated", reward: step.reward });
  if (step.truncated) return finish(after, { kind: "truncated", reason: "environment" });
  if (turns.length >= state.spec.maxTurns) return finish(after, { kind: "truncated", reason: "turns" });
  const sampled = state.trajectory.segments.at(-1);
  invariant(state.rendered !== undefined && sampled?.kind === "sampled", "a step follows a sample");
  const rendered = state.rendered.reply(sampled.tokens, [observationOf(turn, step.observation)]);
  return requestSample({ ...after, trajectory: append(state.trajectory, rendered.segment), rendered });
}

/** Ends an episode by a fault: it has no return (invariant 6). What was sampled until then is kept. */
export function fail(state: EpisodeState, boundary: "environment" | "sandbox", code: string): Episode {
  const turns = state.acting === undefined ? state.turns : [...state.turns, { observation: state.observation, ...actingOf(state), reward: 0 }];
  return episodeOf({ ...withoutActing(state), turns }, { kind: "failed", boundary, code });
}

/** Ends an episode whose environment did not even start. */
export function failAtStart(spec: EpisodeSpec, boundary: "environment" | "sandbox", code: string): Episode {
  return fail({ spec, actionForm: "boxed", trajectory: emptyTrajectory(spec), turns: [], observation: "" }, boundary, code);
}

function emptyTrajectory(spec: EpisodeSpec): Trajectory {
  return { role: "agent", arm: spec.arm, segments: [] };
}

function requestSample(state: EpisodeState): Next {
  const prompt = flatten(lastRow(state.trajectory)).tokens;
  const room = state.spec.contextLength - prompt.length;
  if (room < 1) return finish(state, { kind: "truncated", reason: "context" });
  const { sampling } = state.spec;
  const request: SampleRequest = {
    prompt,
    sampling: { ...sampling, maxTokens: Math.min(sampling.maxTokens, room) },
    seed: state.spec.sampleSeed(state.turns.length),
    session: state.spec.id,
  };
  return { kind: "sample", state, request };
}

function actingOf(state: EpisodeState): { response: string; action?: string } {
  return state.acting ?? { response: "" };
}

function withoutActing(state: EpisodeState): EpisodeState {
  const { spec, actionForm, trajectory, turns, observation, rendered } = state;
  return { spec, actionForm, trajectory, turns, observation, ...(rendered === undefined ? {} : { rendered }) };
}

function finish(state: EpisodeState, outcome: Outcome): Next {
  return { kind: "end", episode: episodeOf(state, outcome) };
}

function episodeOf(state: EpisodeState, outcome: Outcome): Episode {
  const { id, environmentId, arm, seed, play } = state.spec;
  return { id, environmentId, arm, seed, play, trajectory: state.trajectory, turns: state.turns, outcome };
}
