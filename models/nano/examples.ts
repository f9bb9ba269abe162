import type { PromptMessages } from "../../src/designer/prompts.ts";
import { embeddedRenderer } from "../../src/chat/renderer.ts";
import { specialTokens } from "../../src/engine/tokenizer.ts";
import type { Tokenizer } from "../../src/engine/tokenizer.ts";
import { recipe } from "./recipe.ts";

export const exampleKinds = ["design", "hint", "agent"] as const;

export type ExampleKind = (typeof exampleKinds)[number];

/** A demonstration as text: what is asked, and what the policy should say in each turn. */
export interface Conversation {
  readonly kind: ExampleKind;
  readonly prompt: PromptMessages;
  readonly turns: readonly { readonly response: string; /** What follows it; absent after the last turn. */ readonly observation?: string }[];
}

/** A demonstration as the engine's loss takes it; both arrays have shape [T]. */
export interface Example {
  readonly kind: ExampleKind;
  readonly tokens: Int32Array;
  readonly weights: Float32Array;
}

/** Every text of a conversation, for training the tokenizer. */
export function textsOf(conversation: Conversation): string[] {
  const { prompt, turns } = conversation;
  return [prompt.system, prompt.user, ...turns.flatMap(({ response, observation }) => [response, observation ?? ""])];
}

/**
 * Renders a conversation exactly as a rollout does. Weight 1 on each response and its end token, `recipe.contextWeight`
 * on the text the policy is given, 0 on special tokens it is given.
 */
export function renderExample(conversation: Conversation, tokenizer: Tokenizer, contextWeight: number = recipe.contextWeight): Example {
  const renderer = embeddedRenderer(tokenizer);
  const tokens: number[] = [];
  const weights: number[] = [];
  const given = (ids: Int32Array): void => {
    for (const id of ids) {
      tokens.push(id);
      weights.push(id < specialTokens.length ? 0 : contextWeight);
    }
  };
  given(renderer.prompt(conversation.prompt));
  for (const { response, observation } of conversation.turns) {
    for (const id of [...tokenizer.encode(response), tokenizer.special.end]) {
      tokens.push(id);
      weights.push(1);
    }
    if (observation !== undefined) given(renderer.observation(observation));
  }
  return { kind: conversation.kind, tokens: Int32Array.from(tokens), weights: Float32Array.from(weights) };
}

/** Some consecutive demonstrations: those from `first` up to, not including, `next`. */
export interface Batch {
  readonly first: number;
  readonly next: number;
  readonly examples: readonly Example[];
}

/** The batch that starts at demonstration `first`: it depends on nothing else. Demonstrations longer than the context are left out. */
export function batchAt(first: number, exampleAt: (index: number) => Example, batchTokens: number = recipe.batchTokens): Batch {
  const examples: Example[] = [];
  let next = first;
  for (let tokens = 0; tokens < batchTokens; next++) {
    const example = exampleAt(next);
    if (example.tokens.length > recipe.model.contextLength) continue;
    examples.push(example);
    tokens += example.tokens.length;
  }
  return { first, next, examples };
}
