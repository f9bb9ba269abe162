import type { Tokenizer } from "../../engine/tokenizer.ts";

const special = { pad: 0, system: 1, user: 2, assistant: 3, end: 4 } as const;
const firstByte = 5;

/** One token per UTF-8 byte; for tests. */
export const byteTokenizer: Tokenizer = {
  vocabularySize: 256 + firstByte,
  special,
  encode: (text) => Int32Array.from(new TextEncoder().encode(text), (byte) => byte + firstByte),
  decode: (tokens) => new TextDecoder().decode(bytesOf(tokens)),
};

function bytesOf(tokens: Int32Array | readonly number[]): Uint8Array {
  return Uint8Array.from([...tokens].filter((token) => token >= firstByte).map((token) => token - firstByte));
}
