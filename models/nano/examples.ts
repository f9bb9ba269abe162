import { embeddedRenderer } from "../../src/chat/renderer.ts";
import { specialTokens } from "../../src/engine/tokenizer.ts";
import type { Tokenizer } from "../../src/engine/tokenizer.ts";
import type { Demonstration } from "./demonstrations.ts";
import { recipe } from "./recipe.ts";

/** What a row of the warm start teaches. */
export const exampleKinds = ["designer", "hint", "agent"] as const;

export type ExampleKind = (typeof exampleKinds)[number];

/** A demonstration as the engine's loss takes it; both arrays have shape [T]. */
export interface Example {
  readonly kind: ExampleKind;
  readonly family: string;
  readonly tokens: Int32Array;
  readonly weights: Float32Array;
}

/** Every text of a demonstration, for training the tokenizer. */
export function textsOf({ messages, turns }: Demonstration): string[] {
  return [messages.system, messages.user, ...turns.flatMap(({ context, target }) => [context ?? "", target])];
}

/**
 * Renders a demonstration exactly as a rollout does. Weight 1 on each target and its end token, `recipe.contextWeight`
 * on the text the policy is given, 0 on special tokens it is given.
 */
export function renderExample(demonstration: Demonstration, tokenizer: Tokenizer, contextWeight: number = recipe.contextWeight): Example {
  const renderer = embeddedRenderer(tokenizer);
  const tokens: number[] = [];
  const weights: number[] = [];
  const given = (ids: Int32Array): void => {
    for (const id of ids) {
      tokens.push(id);
      weights.push(id < specialTokens.length ? 0 : contextWeight);
    }
  };
  given(renderer.prompt(demonstration.messages));
  for (const { context, target } of demonstration.turns) {
    if (context !== undefined) given(renderer.observation(context));
    for (const id of [...tokenizer.encode(target), tokenizer.special.end]) {
      tokens.push(id);
      weights.push(1);
    }
  }
  return { kind: demonstration.role, family: demonstration.family, tokens: Int32Array.from(tokens), weights: Float32Array.from(weights) };
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
