import { expect, test } from "vitest";
import { typescriptFacts } from "./typescript-facts.ts";
import { tokensOf } from "./typescript-tokens.ts";

const game = `
// a comment
export default class Guess extends TextGame {
  secret = 0;
  #tries
  static best;
  reset(seed) { this.secret = this.start(seed).int(1, 9); this.last ??= "no\\tone"; return this.show(\`hi \${seed / 2 / 1}\`); }
  step(action) { ++this.count; if (/[/"]{1}\\d/.test(action)) return this.tell('x'); return this.judge(action, this.secret); }
}`;

test("tokens: regular expressions, divisions, templates and comments are told apart", () => {
  const kinds = tokensOf(game).filter(({ kind }) => kind !== "name" && kind !== "mark");
  expect(kinds.map(({ kind, text }) => `${kind} ${text}`)).toEqual(["number 0", "number 1", "number 9", "string no\\tone", "template hi ", "number 2", "number 1", "template ", 'regex /[/"]{1}\\d/', "string x"]);
});

test("facts: strings unescaped, fields and assignments on this counted", () => {
  const facts = typescriptFacts(game);
  expect(facts.strings).toEqual(["no\tone", "hi ", "x"]);
  expect(facts.stateVariables).toBe(5);
  expect(facts.shingles).toEqual([...new Set(facts.shingles)].sort((a, b) => a - b));
});

test("the skeleton ignores names, constants, spacing and comments, and nothing else", () => {
  const { skeleton } = typescriptFacts(game);
  const renamed = game.replaceAll("secret", "hidden").replaceAll("Guess", "Other").replace("'x'", '"yy"').replace("// a comment", "/* longer\n */").replaceAll("  ", "\t");
  expect(typescriptFacts(renamed).skeleton).toBe(skeleton);
  expect(typescriptFacts(game.replace("++", "--")).skeleton).not.toBe(skeleton);
  expect(typescriptFacts(game.replace("judge", "tell")).skeleton).not.toBe(skeleton);
  expect(typescriptFacts(game.replace("this.last", "this.secret")).skeleton).not.toBe(skeleton);
});

test("text that does not parse gives facts in linear time", () => {
  for (const text of ["`".repeat(1000), "${`".repeat(5000), "/".repeat(50_000), "'".repeat(50_000), "/*".repeat(50_000), "\\u{110000}", "'\\u{110000}'", "}".repeat(1000), "a".repeat(100_000)]) {
    const start = performance.now();
    expect(typescriptFacts(text).skeleton).toMatch(/^[\da-f]{32}$/);
    expect(performance.now() - start).toBeLessThan(3000);
  }
});
