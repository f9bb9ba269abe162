import * as jinjaPackage from "@huggingface/jinja";
import * as tokenizersPackage from "@huggingface/tokenizers";

/** The part of `@huggingface/jinja` used here; its own type declarations do not resolve under Node's module resolution. */
interface Jinja {
  readonly Template: new (source: string) => { readonly parsed: object };
  readonly Environment: new () => { set(name: string, value: unknown): void };
  readonly Interpreter: new (environment: object) => { run(program: object): { readonly value: unknown } };
}

/** The part of `@huggingface/tokenizers` used here. */
export interface TokenizerFile {
  encode(text: string, options: { readonly add_special_tokens: boolean }): { readonly ids: readonly number[] };
  decode(ids: readonly number[], options: { readonly skip_special_tokens: boolean; readonly clean_up_tokenization_spaces: boolean }): string;
  token_to_id(token: string): number | undefined;
  id_to_token(id: number): string | undefined;
}

interface Tokenizers {
  readonly Tokenizer: new (tokenizer: object, config: object) => TokenizerFile;
}

export const jinja = jinjaPackage as unknown as Jinja;
export const tokenizers = tokenizersPackage as unknown as Tokenizers;
