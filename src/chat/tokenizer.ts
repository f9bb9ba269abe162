import { messageOf, SpadeError } from "../core/errors.ts";
import { type TokenizerFile, tokenizers } from "./hugging-face.ts";

/** The tokenizer of a model: text with control tokens in it to ids and back. Ids are never made from sampled text. */
export interface ChatTokenizer {
  /** Shape [T]. Control tokens in the text become their ids; nothing is added. */
  encode(text: string): Int32Array;
  /** Control tokens are shown; ids that the vocabulary lacks decode to nothing, invalid UTF-8 to U+FFFD. */
  decode(tokens: Int32Array | readonly number[]): string;
  /** Id of one token by its text. */
  id(token: string): number | undefined;
  /** Text of one id. */
  token(id: number): string | undefined;
  /** Ids at or above this stand for nothing. */
  readonly vocabularySize: number;
  /** The control token that a text begins with. */
  controlAtStart(text: string): string | undefined;
  /** The text with no control token in it: a space is put after the first character of each. */
  defuse(text: string): string;
}

/** The parts of tokenizer.json that are looked at here. */
interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly special: boolean;
}

/** Makes the tokenizer of a `tokenizer.json` and a `tokenizer_config.json`, given as parsed JSON. @throws chat.tokenizer */
export function chatTokenizer(files: { readonly tokenizer: object; readonly config: object; readonly path: string }): ChatTokenizer {
  const { tokenizer, config, path } = files;
  const inner = build(tokenizer, config, path);
  const added = [...(tokenizer as { readonly added_tokens: readonly AddedToken[] }).added_tokens].sort((a, b) => b.content.length - a.content.length);
  const control = added.filter(({ special }) => special).map(({ content }) => content);
  const anyControl = control.length === 0 ? undefined : new RegExp(control.map((token) => RegExp.escape(token)).join("|"), "gu");
  const encode = (text: string): Int32Array => Int32Array.from(text === "" ? [] : inner.encode(text, { add_special_tokens: false }).ids);
  const decode = (tokens: Int32Array | readonly number[]): string => {
    const known = [...tokens].filter((id) => inner.id_to_token(id) !== undefined);
    return known.length === 0 ? "" : inner.decode(known, { skip_special_tokens: false, clean_up_tokenization_spaces: false });
  };
  const made: ChatTokenizer = {
    encode,
    decode,
    id: (token) => inner.token_to_id(token),
    token: (id) => inner.id_to_token(id),
    vocabularySize: vocabularySize(tokenizer, added),
    controlAtStart: (text) => control.find((token) => text.startsWith(token)),
    defuse: (text) => (anyControl === undefined ? text : text.replace(anyControl, (token) => `${token.slice(0, 1)} ${token.slice(1)}`)),
  };
  check(made, added, path);
  return made;
}

function vocabularySize(tokenizer: object, added: readonly AddedToken[]): number {
  const { vocab } = (tokenizer as { readonly model: { readonly vocab: Readonly<Record<string, number>> | readonly unknown[] } }).model;
  const ids = Array.isArray(vocab) ? [vocab.length - 1] : Object.values(vocab as Readonly<Record<string, number>>);
  return 1 + [...ids, ...added.map(({ id }) => id)].reduce((largest, id) => Math.max(largest, id), -1);
}

function build(tokenizer: object, config: object, path: string): TokenizerFile {
  try {
    return new tokenizers.Tokenizer(tokenizer, config);
  } catch (cause) {
    throw broken(path, messageOf(cause), cause);
  }
}

/** A tokenizer that does not give back what it was given, or splits its own control tokens, is not this model's. */
function check(tokenizer: ChatTokenizer, added: readonly AddedToken[], path: string): void {
  const probe = 'Move 3: go north, "x" == {1}.';
  const shown = tokenizer.decode(tokenizer.encode(probe));
  if (shown.trim() !== probe) throw broken(path, `it decodes ${JSON.stringify(probe)} to ${JSON.stringify(shown.slice(0, 80))}`);
  for (const { content, id } of added) {
    const ids = tokenizer.encode(content);
    if (ids.length !== 1 || ids[0] !== id) throw broken(path, `it encodes its own token ${content} as [${ids.join(", ")}], not as ${id}`);
  }
}

function broken(path: string, problem: string, cause?: unknown): SpadeError {
  return new SpadeError("chat.tokenizer", `Cannot use the tokenizer ${path}: ${problem}. Restore the model's tokenizer files; they must be those of the model that is sampled.`, { cause, details: { path } });
}
