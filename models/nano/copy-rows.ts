import { deriveSeed, Rng } from "../../src/core/seed.ts";
import { specialTokens } from "../../src/engine/tokenizer.ts";
import { recipe } from "./recipe.ts";

/**
 * Rows of a step that teach nothing but copying: random tokens, said twice; only the repetition carries loss, and nothing
 * but "what came after this token before" predicts it.
 */
export function copyRows(step: number, vocabularySize: number, rows: number): { readonly tokens: Int32Array; readonly weights: Float32Array }[] {
  const rng = new Rng(deriveSeed(recipe.seed, "copy", step));
  return Array.from({ length: rows }, () => {
    const length = rng.int(12, 90);
    const once = Array.from({ length }, () => rng.int(specialTokens.length, vocabularySize - 1));
    const weights = Float32Array.from({ length: 2 * length }, (_, t) => (t > length ? 1 : 0));
    return { tokens: Int32Array.from([...once, ...once]), weights };
  });
}
