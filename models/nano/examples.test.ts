import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bpeTokenizer, trainBpe } from "../../src/engine/bpe.ts";
import { batchAt, renderExample } from "./examples.ts";
import type { Demonstration } from "./demonstrations.ts";
import type { Example } from "./examples.ts";

const tokenizer = bpeTokenizer(trainBpe(["the mill turns", "hint: count the gears", "so the answer is \\boxed{4}"], 270));
const text = fc.string({ unit: "grapheme", maxLength: 20 });
const demonstrations: fc.Arbitrary<Demonstration> = fc.record({
  role: fc.constantFrom("designer", "hint", "agent"),
  family: fc.constant("any"),
  skill: fc.constant("any"),
  messages: fc.record({ system: text, user: text }),
  turns: fc
    .tuple(fc.record({ target: text }), fc.array(fc.record({ context: text, target: text }), { maxLength: 3 }))
    .map(([first, later]) => [first, ...later]),
});

/** The texts between special tokens, by weight. */
function weighted(example: Example, weight: number): string {
  return tokenizer.decode([...example.tokens].filter((id, t) => id >= 5 && example.weights[t] === Math.fround(weight)));
}

describe("renderExample", () => {
  it("gives weight 1 to the targets and their end tokens, and to nothing else", () => {
    fc.assert(
      fc.property(demonstrations, (demonstration) => {
        const example = renderExample(demonstration, tokenizer, 0.25);
        const { messages, turns } = demonstration;
        expect(example.weights).toHaveLength(example.tokens.length);
        const trained = [...example.tokens].filter((_, t) => example.weights[t] === 1);
        expect(trained).toEqual(turns.flatMap(({ target }) => [...tokenizer.encode(target), tokenizer.special.end]));
        const given = [messages.system, messages.user, ...turns.map(({ context }) => context ?? "")];
        expect(weighted(example, 0.25)).toBe(tokenizer.decode(given.flatMap((part) => [...tokenizer.encode(part)])));
      }),
    );
  });

  it("ends with the end token of the last response", () => {
    const example = renderExample({ role: "agent", family: "any", skill: "any", messages: { system: "agent", user: "2 + 2" }, turns: [{ target: "4" }] }, tokenizer);
    expect(example.tokens.at(-1)).toBe(tokenizer.special.end);
    expect(example.weights.at(-1)).toBe(1);
  });
});

describe("batchAt", () => {
  const exampleAt = (index: number): Example => {
    const tokens = Int32Array.from({ length: index % 7 === 3 ? 2000 : 10 + (index % 5) }, () => index);
    return { kind: "agent", family: "any", tokens, weights: new Float32Array(tokens.length) };
  };

  it("depends on its first demonstration only, and batches follow one another without gap or overlap", () => {
    const seen: number[] = [];
    for (let first = 0; first < 100; ) {
      const batch = batchAt(first, exampleAt, 50);
      expect(batchAt(first, exampleAt, 50)).toEqual(batch);
      expect(batch.first).toBe(first);
      seen.push(...batch.examples.map(({ tokens }) => tokens[0] as number));
      first = batch.next;
    }
    expect(seen).toEqual(Array.from({ length: (seen.at(-1) as number) + 1 }, (_, index) => index).filter((index) => index % 7 !== 3));
  });

  it("fills the batch", () => {
    const { examples } = batchAt(0, exampleAt, 50);
    const total = examples.reduce((sum, { tokens }) => sum + tokens.length, 0);
    expect(total).toBeGreaterThanOrEqual(50);
    expect(total - (examples.at(-1) as Example).tokens.length).toBeLessThan(50);
  });
});
