import { join } from "node:path";
import { embeddedRenderer, type Renderer } from "../chat/renderer.ts";
import { loadTokenizer } from "../engine/bpe.ts";

/** How a model is spoken to: messages to tokens and back. */
export interface Speech {
  readonly renderer: Renderer;
  /** Tokens that end a response. */
  readonly stopTokens: readonly number[];
  /** Ids at or above this stand for nothing. */
  readonly vocabularySize: number;
}

/**
 * The speech of the model whose tokenizer lies in a directory. The one place that decides by the files there: so far the bundled models'
 * format; chat templates of other models belong here.
 * @throws SpadeError engine.tokenizer
 */
export async function openSpeech(directory: string): Promise<Speech> {
  const tokenizer = await loadTokenizer(join(directory, "tokenizer.json"));
  return { renderer: embeddedRenderer(tokenizer), stopTokens: [tokenizer.special.end], vocabularySize: tokenizer.vocabularySize };
}
