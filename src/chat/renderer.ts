import type { ChatMessage, Prompt, Said } from "../core/chat.ts";
import type { Turn } from "../core/episode.ts";
import type { ContextSegment } from "../core/trajectory.ts";
import type { Tokenizer } from "../engine/tokenizer.ts";
import { readToolCalls } from "./tool-calls.ts";

/** Tool schema as chat templates take it (OpenAI function schema). */
export type ToolSchema = Readonly<Record<string, unknown>>;

/** What a conversation opens with. */
export interface Opening {
  readonly system: string;
  readonly user: string;
  /** Described by the chat template where it can; the embedded renderer has no place for them. */
  readonly tools?: readonly ToolSchema[];
}

/** What the policy is told after it spoke: a message of the user, or the result of a tool it called. */
export interface Observation {
  readonly role: "user" | "tool";
  readonly content: string;
}

/** A conversation up to where the policy speaks. Immutable: several replies can be tried from one place. */
export interface Rendered {
  /**
   * What to append to the trajectory: an `observation` where the new rendering extends all tokens before it, a `prompt`,
   * which starts a new row, where the template rewrote them (prefix property, checked at every turn).
   */
  readonly segment: ContextSegment;
  /** The conversation after a reply, given as the tokens that were sampled (shape [T], stop token included), and what came back, in order. */
  reply(sampled: Int32Array, told: readonly Observation[]): Rendered;
}

/** Turns messages into token segments. Sampled tokens are never made again from text (invariant 1). */
export interface Renderer {
  /** Opens a conversation. */
  begin(opening: Opening): Rendered;
  /** Prompt of a conversation of one turn. Shape [T]. */
  prompt(opening: Opening): Int32Array;
  /** Text of sampled tokens, without the stop token. */
  text(tokens: Int32Array): string;
}

/** A conversation up to where a policy of either kind speaks. */
export interface AnyRendered {
  /** Absent where the policy takes no tokens. */
  readonly segment?: ContextSegment;
  /** The whole conversation; present where the policy takes it as it is. */
  readonly messages?: readonly ChatMessage[];
  reply(said: Said, told: readonly Observation[]): AnyRendered;
}

/** A renderer for a policy of either kind, and of the kind of that policy. */
export interface AnyRenderer {
  begin(opening: Opening): AnyRendered;
  prompt(opening: Opening): Prompt;
  text(said: Said): string;
}

/** The renderer of the embedded models; its observations are the same at every turn. */
export interface EmbeddedRenderer extends Renderer {
  /** A later observation, up to where the policy speaks again. Shape [T]. */
  observation(text: string): Int32Array;
}

/** What the policy is told after a turn: the result of a tool where it called one, and otherwise a message of the user. */
export function observationOf(turn: Pick<Turn, "action" | "parse">, content: string): Observation {
  const called = turn.parse !== undefined && readToolCalls(turn.action ?? "").calls.length > 0;
  return { role: called ? "tool" : "user", content };
}

/** Renderer of the embedded models: `system … end user … end assistant`, one special token per border. */
export function embeddedRenderer(tokenizer: Tokenizer): EmbeddedRenderer {
  const { system, user, assistant, end } = tokenizer.special;
  const prompt = (opening: Opening): Int32Array =>
    Int32Array.from([system, ...tokenizer.encode(opening.system), end, user, ...tokenizer.encode(opening.user), end, assistant]);
  const observation = (text: string): Int32Array => Int32Array.from([user, ...tokenizer.encode(text), end, assistant]);
  const at = (segment: ContextSegment): Rendered => ({
    segment,
    reply: (_sampled, told) => at({ kind: "observation", tokens: observation(told.map(({ content }) => content).join("\n")) }),
  });
  return { prompt, observation, begin: (opening) => at({ kind: "prompt", tokens: prompt(opening) }), text: (tokens) => tokenizer.decode(tokens) };
}
