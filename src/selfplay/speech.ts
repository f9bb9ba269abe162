import { existsSync } from "node:fs";
import { join } from "node:path";
import { embeddedRenderer, type Renderer } from "../chat/renderer.ts";
import { loadChatModel } from "../chat/template-renderer.ts";
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
 * The speech of the model whose tokenizer lies in a directory. The one place that decides by the files there: a Hugging Face style
 * directory has a `tokenizer_config.json` and a chat template, one of a bundled model has neither.
 * @throws SpadeError engine.tokenizer, chat.tokenizer, chat.template
 */
export async function openSpeech(directory: string): Promise<Speech> {
  if (existsSync(join(directory, "tokenizer_config.json"))) {
    const { renderer, stopTokens, tokenizer } = await loadChatModel({ directory });
    return { renderer, stopTokens, vocabularySize: tokenizer.vocabularySize };
  }
  const tokenizer = await loadTokenizer(join(directory, "tokenizer.json"));
  return { renderer: embeddedRenderer(tokenizer), stopTokens: [tokenizer.special.end], vocabularySize: tokenizer.vocabularySize };
}
