/** Maps text to token ids and back. Special tokens never come from text: they are appended by id. */
export interface Tokenizer {
  readonly vocabularySize: number;
  /** Ids of the special tokens by name, for example `end`. */
  readonly special: Readonly<Record<SpecialToken, number>>;
  /** Shape [T]. Any text is encodable; none yields a special token. */
  encode(text: string): Int32Array;
  /** Special tokens decode to the empty string; invalid UTF-8 to U+FFFD. */
  decode(tokens: Int32Array | readonly number[]): string;
}

/** Special tokens of the embedded models. `pad` is id 0. */
export const specialTokens = ["pad", "system", "user", "assistant", "end"] as const;

export type SpecialToken = (typeof specialTokens)[number];
