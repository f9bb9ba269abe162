import { type AnyRendered, type AnyRenderer, observationOf } from "../chat/renderer.ts";
import type { Prompt, Said } from "../core/chat.ts";
import type { ActionForm } from "../core/environment.ts";
import type { Episode, Outcome, Turn } from "../core/episode.ts";
import { invariant } from "../core/errors.ts";
import type { Arm } from "../core/role.ts";
import { append, flatten, lastRow, tokenCount, type Trajectory } from "../core/trajectory.ts";
import type { AnySample, SampleRequest, Sampling } from "../policy/policy.ts";
import { promptTokens, saidIn, withSample } from "../policy/either.ts";
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
  readonly renderer: AnyRenderer;
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
  readonly rendered?: AnyRendered;
  /** The turn whose action has been read but not yet stepped. */
  readonly acting?: { readonly said: Said; readonly response: string; readonly action: string };
}

/** What an episode needs next. */
export type Next =
  | { readonly kind: "sample"; readonly state: EpisodeState; readonly request: SampleRequest<Prompt> }
  | { readonly kind: "step"; readonly state: EpisodeState; readonly action: string }
  | { readonly kind: "end"; readonly episode: Episode };

/** Begins an episode on its environment's first observation. */
export function start(spec: EpisodeSpec, { observation, actionForm }: Pick<EpisodeState, "observation" | "actionForm">, dialogue: Dialogue): Next {
  const messages = spec.arm === "hint" ? dialogue.prompt(observation, spec.hint ?? "") : dialogue.prompt(observation);
  const rendered = dialogue.renderer.begin(messages);
  return requestSample({ spec, actionForm, trajectory: withRendered(emptyTrajectory(spec), rendered), turns: [], observation }, rendered);
}

/**
 * Takes the policy's sample. Its tokens are kept as they came (invariant 1). A response without an action ends the
 * episode: truncated by `context` or `length` when it was cut short, by `action` when the policy stopped by itself.
 */
export function receiveSample(state: EpisodeState, sample: AnySample, dialogue: Dialogue): Next {
  const promptLength = tokenCount(lastRow(state.trajectory));
  const trajectory = withSample(state.trajectory, sample);
  const said = saidIn(sample);
  const response = dialogue.renderer.text(said);
  const action = sample.stop === "context" ? undefined : dialogue.parseAction(response, state.actionForm);
  if (action !== undefined) return { kind: "step", action, state: { ...state, trajectory, acting: { said, response, action } } };
  const cutByContext = sample.stop === "context" || promptLength + state.spec.sampling.maxTokens > state.spec.contextLength;
  const reason = sample.stop === "stop" ? "action" : cutByContext ? "context" : "length";
  const turns = [...state.turns, { observation: state.observation, response, reward: 0 }];
  return finish({ ...state, trajectory, turns }, { kind: "truncated", reason });
}

/** Takes the environment's answer to the action. What it shows goes on with the row, or starts a new one where the template rewrites the history. */
export function receiveStep(state: EpisodeState, step: StepValue): Next {
  const parse = step.parse === undefined ? {} : { parse: step.parse };
  const { acting, rendered } = state;
  const turn = { observation: state.observation, ...actingOf(state), reward: step.reward, ...parse };
  const turns = [...state.turns, turn];
  const after = { ...withoutActing(state), turns, observation: step.observation };
  if (step.terminated) return finish(after, { kind: "terminated", reward: step.reward });
  if (step.truncated) return finish(after, { kind: "truncated", reason: "environment" });
  if (turns.length >= state.spec.maxTurns) return finish(after, { kind: "truncated", reason: "turns" });
  invariant(rendered !== undefined && acting !== undefined, "a step follows a sample");
  const next = rendered.reply(acting.said, [observationOf(turn, step.observation)]);
  return requestSample({ ...after, trajectory: withRendered(state.trajectory, next) }, next);
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

function requestSample(before: EpisodeState, rendered: AnyRendered): Next {
  const state = { ...before, rendered };
  const prompt = rendered.messages ?? flatten(lastRow(state.trajectory)).tokens;
  const room = state.spec.contextLength - promptTokens(prompt);
  if (room < 1) return finish(state, { kind: "truncated", reason: "context" });
  const { sampling } = state.spec;
  const request: SampleRequest<Prompt> = {
    prompt,
    sampling: { ...sampling, maxTokens: Math.min(sampling.maxTokens, room) },
    seed: state.spec.sampleSeed(state.turns.length),
    session: state.spec.id,
  };
  return { kind: "sample", state, request };
}

/** What is told to a policy that takes no tokens leaves no trace in the trajectory. */
function withRendered<A extends Arm>(trajectory: Trajectory<A>, { segment }: AnyRendered): Trajectory<A> {
  return segment === undefined ? trajectory : append(trajectory, segment);
}

function actingOf({ acting }: EpisodeState): { response: string; action?: string } {
  return acting === undefined ? { response: "" } : { response: acting.response, action: acting.action };
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
