import { mergeInputs } from "../config/merge.ts";
import { SpadeError } from "../core/errors.ts";

/**
 * The object that words like `policy.baseUrl=http://127.0.0.1:8000` describe. A value is JSON where it can be read as such, else text.
 * @throws SpadeError usage.assignment
 */
export function readAssignments(option: string, words: readonly string[]): object {
  return words.reduce<object>((merged, word) => mergeInputs(merged, readAssignment(option, word)) as object, {});
}

function readAssignment(option: string, word: string): object {
  const at = word.indexOf("=");
  const path = word.slice(0, at).split(".");
  if (at < 1 || path.includes("")) throw new SpadeError("usage.assignment", `--${option} must be KEY=VALUE with a dotted key, for example run.iterations=10, not "${word}".`);
  return path.reduceRight<unknown>((value, key) => Object.fromEntries([[key, value]]), readValue(word.slice(at + 1))) as object;
}

function readValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
