import { inspect } from "node:util";
import { SpadeError } from "../core/errors.ts";

/** Reads one environment variable; injected, so that only `cli/` touches the environment. */
export type ReadVariable = (name: string) => string | undefined;

const hidden = "[secret]";

/** A key that never shows itself: printing, serialising and inspecting it give a placeholder. */
export class Secret {
  /** Name of the environment variable it came from; safe to show. */
  readonly name: string;
  readonly #value: string;

  constructor(name: string, value: string) {
    this.name = name;
    this.#value = value;
  }

  /** The key itself, for the one header that carries it. */
  reveal(): string {
    return this.#value;
  }

  /** A text with every occurrence of the key hidden. */
  redact(text: string): string {
    return text.replaceAll(this.#value, hidden);
  }

  toString(): string {
    return hidden;
  }

  toJSON(): string {
    return hidden;
  }

  [inspect.custom](): string {
    return hidden;
  }
}

/** The key in an environment variable. @throws SpadeError http.key when it is unset, empty or unusable in a header */
export function readSecret(name: string, read: ReadVariable): Secret {
  const value = read(name)?.trim() ?? "";
  if (value === "") throw new SpadeError("http.key", `The environment variable ${name} is not set, expected the server's API key. Set it (export ${name}=…), or name another variable in the configuration (apiKeyEnv).`, { details: { name } });
  if (!/^[\x21-\x7e]+$/.test(value)) throw new SpadeError("http.key", `The environment variable ${name} holds characters that no header can carry, expected an API key of visible ASCII characters. Set it again.`, { details: { name } });
  return new Secret(name, value);
}
