import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "./digest.ts";
import { episodeReturn, isWin } from "./episode.ts";
import { deriveSeed, Rng } from "./seed.ts";
import { append, flatten, lastRow, rowsOf, tokenCount, type Segment, type Trajectory } from "./trajectory.ts";

const tokens = fc.array(fc.nat(5000), { maxLength: 30 }).map((ids) => Int32Array.from(ids));
const prompt: fc.Arbitrary<Segment> = tokens.map((ids) => ({ kind: "prompt" as const, tokens: ids }));
const segment: fc.Arbitrary<Segment> = fc.oneof(
  tokens.map((ids) => ({ kind: "observation" as const, tokens: ids })),
  tokens.map((ids) => ({ kind: "sampled" as const, tokens: ids, logprobs: Float32Array.from(ids, (id) => -id / 7), policyVersion: 3 })),
);

describe("trajectory", () => {
  it("keeps sampled tokens and log-probabilities exactly, in order (invariant 1)", () => {
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 8 }), (segments) => {
        let trajectory: Trajectory<"plain"> = { role: "agent", arm: "plain", segments: [] };
        for (const item of segments) trajectory = append(trajectory, item);
        const flat = flatten(trajectory);
        expect([...flat.tokens]).toEqual(segments.flatMap((item) => [...item.tokens]));
        expect(flat.tokens.length).toBe(tokenCount(trajectory));
        expect([...flat.logprobs].filter((_, t) => flat.mask[t] === 1)).toEqual(
          segments.flatMap((item) => (item.kind === "sampled" ? [...item.logprobs] : [])),
        );
      }),
    );
  });

  it("masks exactly the sampled segments (invariant 2)", () => {
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 8 }), (segments) => {
        const { mask } = flatten({ role: "agent", arm: "plain", segments });
        expect([...mask]).toEqual(segments.flatMap((item) => [...item.tokens].map(() => (item.kind === "sampled" ? 1 : 0))));
      }),
    );
  });

  it("splits into rows at its prompts: every segment is in one row, and only a row can be laid out", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(prompt, fc.array(segment, { maxLength: 4 })), { minLength: 1, maxLength: 4 }), (made) => {
        const trajectory: Trajectory<"plain"> = { role: "agent", arm: "plain", segments: made.flatMap(([first, rest]) => [first, ...rest]) };
        const rows = rowsOf(trajectory);
        expect(rows.map(({ segments }) => segments)).toEqual(made.map(([first, rest]) => [first, ...rest]));
        expect(lastRow(trajectory)).toEqual(rows.at(-1));
        expect(rows.reduce((sum, row) => sum + flatten(row).tokens.length, 0)).toBe(tokenCount(trajectory));
        if (rows.length > 1) expect(() => flatten(trajectory)).toThrow(/a row has one prompt/);
      }),
    );
    const empty: Trajectory<"plain"> = { role: "agent", arm: "plain", segments: [] };
    expect([rowsOf(empty), lastRow(empty)]).toEqual([[], empty]);
  });

  it("refuses a sampled segment whose log-probabilities do not match its tokens", () => {
    const row: Trajectory<"plain"> = { role: "agent", arm: "plain", segments: [] };
    const bad: Segment = { kind: "sampled", tokens: Int32Array.of(1, 2), logprobs: Float32Array.of(-1), policyVersion: 0 };
    expect(() => append(row, bad)).toThrow(/one log-probability per token/);
  });
});

describe("seeds", () => {
  it("derives equal seeds for equal names and different ones otherwise (invariant 4)", () => {
    expect(deriveSeed(1, "play", 2)).toBe(deriveSeed(1, "play", 2));
    const names = new Set(Array.from({ length: 1000 }, (_, i) => deriveSeed(1, "play", i)));
    expect(names.size).toBeGreaterThan(995);
    expect(deriveSeed(1, "ab", "c")).not.toBe(deriveSeed(1, "a", "bc"));
  });

  it("draws integers within bounds, every value reachable", () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: -5, max: 5 }), fc.nat(6), (seed, low, span) => {
        const rng = new Rng(seed);
        const seen = new Set(Array.from({ length: 400 }, () => rng.int(low, low + span)));
        expect(Math.min(...seen)).toBe(low);
        expect(Math.max(...seen)).toBe(low + span);
        expect(seen.size).toBe(span + 1);
      }),
    );
  });

  it("shuffles without losing items", () => {
    fc.assert(
      fc.property(fc.integer(), fc.array(fc.nat()), (seed, items) => {
        expect(new Rng(seed).shuffle(items).sort((a, b) => a - b)).toEqual([...items].sort((a, b) => a - b));
      }),
    );
  });
});

describe("outcome returns", () => {
  it("clamps, gives 0 when truncated and nothing when failed (invariant 6)", () => {
    expect(episodeReturn({ kind: "terminated", reward: 7 })).toBe(1);
    expect(episodeReturn({ kind: "terminated", reward: -7 })).toBe(-1);
    expect(episodeReturn({ kind: "truncated", reason: "turns" })).toBe(0);
    expect(episodeReturn({ kind: "failed", boundary: "sandbox", code: "exit" })).toBeUndefined();
    expect(isWin(0.5)).toBe(false);
    expect(isWin(1)).toBe(true);
  });
});

it("canonical JSON ignores key order at every depth", () => {
  expect(canonicalJson({ b: [{ y: 1, x: 2 }], a: 1 })).toBe(canonicalJson({ a: 1, b: [{ x: 2, y: 1 }] }));
});
