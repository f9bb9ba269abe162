import { stripTypeScriptTypes } from "node:module";

/** A program without its types, or why it has none; `isBroken` when Node's parser is of no use to anybody from now on. */
export type Stripped = { readonly source: string } | { readonly message: string; readonly isBroken: boolean };

/**
 * Replaces types by blanks, so that positions stay. To be called in a child only: Node's parser keeps one WebAssembly
 * instance per process, and a program that is nested deeply enough to overflow its stack breaks it for good.
 */
export function stripTypes(source: string): Stripped {
  try {
    return { source: stripTypeScriptTypes(source) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ERR_INVALID_TYPESCRIPT_SYNTAX" || code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") {
      return { message: `SyntaxError: ${error instanceof Error ? error.message : ""}`.slice(0, 400), isBroken: false };
    }
    return { message: "SyntaxError: the program is nested too deeply to be parsed", isBroken: true };
  }
}
