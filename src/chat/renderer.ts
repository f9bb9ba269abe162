import type { Tokenizer } from "../engine/tokenizer.ts";

/** Turns messages into token segments. What a renderer appends never changes what it rendered before (prefix property). */
export interface Renderer {
  /** Prompt of the first turn, up to where the policy starts to speak. Shape [T]. */
  prompt(messages: { readonly system: string; readonly user: string }): Int32Array;
  /** A later observation, appended after a sampled segment, up to where the policy speaks again. Shape [T]. */
  observation(text: string): Int32Array;
  /** Text of sampled tokens, without the stop token. */
  text(tokens: Int32Array): string;
}

/** Renderer of the embedded models: `system … end user … end assistant`, one special token per border. */
export function embeddedRenderer(tokenizer: Tokenizer): Renderer {
  const { system, user, assistant, end } = tokenizer.special;
  return {
    prompt: (messages) =>
      Int32Array.from([system, ...tokenizer.encode(messages.system), end, user, ...tokenizer.encode(messages.user), end, assistant]),
    observation: (text) => Int32Array.from([user, ...tokenizer.encode(text), end, assistant]),
    text: (tokens) => tokenizer.decode(tokens),
  };
}
