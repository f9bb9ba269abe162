import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { embeddedRenderer, type Renderer } from "../chat/renderer.ts";
import { loadChatModel } from "../chat/template-renderer.ts";
import { sha256 } from "../core/digest.ts";
import { loadTokenizer } from "../engine/bpe.ts";

/** How a model is spoken to: messages to tokens and back. */
export interface Speech {
  readonly renderer: Renderer;
  /** Tokens that end a response. */
  readonly stopTokens: readonly number[];
  /** Ids at or above this stand for nothing. */
  readonly vocabularySize: number;
  /** Plain English in the tokenizer's ids and, last, its highest id: by it a server's model tells whether the tokenizer is its own. */
  readonly probe: Int32Array;
  /** Digest of the tokenizer's file. */
  readonly digest: string;
}

const plainEnglish = "The sun rises in the east and sets in the west. Water boils when it is hot enough, and a year has twelve months. She opened the door and went into the garden.";

/**
 * The speech of the model whose tokenizer lies in a directory. The one place that decides by the files there: a Hugging Face style
 * directory has a `tokenizer_config.json` and a chat template, one of a bundled model has neither.
 * @throws SpadeError engine.tokenizer, chat.tokenizer, chat.template
 */
export async function openSpeech(directory: string): Promise<Speech> {
  if (existsSync(join(directory, "tokenizer_config.json"))) {
    const { renderer, stopTokens, tokenizer, tokenizerDigest } = await loadChatModel({ directory });
    return { renderer, stopTokens, ...known(tokenizer), digest: tokenizerDigest };
  }
  const path = join(directory, "tokenizer.json");
  const tokenizer = await loadTokenizer(path);
  return { renderer: embeddedRenderer(tokenizer), stopTokens: [tokenizer.special.end], ...known(tokenizer), digest: sha256(await readFile(path, "utf8")) };
}

function known({ vocabularySize, encode }: { readonly vocabularySize: number; readonly encode: (text: string) => Int32Array | readonly number[] }): Pick<Speech, "vocabularySize" | "probe"> {
  return { vocabularySize, probe: Int32Array.of(...encode(plainEnglish), vocabularySize - 1) };
}
