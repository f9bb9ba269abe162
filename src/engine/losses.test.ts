import { describe, expect, it } from "vitest";
import type { Outputs } from "./graph.ts";
import { Rng } from "../core/seed.ts";
import { crossEntropyGraph, policyGradientGraph } from "./losses.ts";
import { parameterFeeds, tableFeeds } from "./model.ts";
import { pack, rowLengths } from "./packing.ts";
import { evaluate } from "./reference.ts";
import type { ReferenceValue } from "./reference.ts";
import { Session } from "./session.ts";
import type { Feed } from "./session.ts";
import { initialWeights, parameterSpecs, sizeOf } from "./transformer.ts";
import type { TransformerConfig } from "./types.ts";

const config: TransformerConfig = { vocabularySize: 11, width: 8, layers: 2, heads: 2, feedForward: 12, contextLength: 12, ropeBase: 100 };
const weights = initialWeights(config, 3).map((x) => x * 8);
const items = [
  { tokens: Int32Array.of(1, 5, 3, 9, 2), targets: [1, 2, 4] },
  { tokens: Int32Array.of(4, 4, 8), targets: [2] },
  { tokens: Int32Array.of(7, 0, 10, 6, 3, 2, 1, 1, 9), targets: [4, 5, 6, 8] },
];
const chunk = pack(items, { contextLength: config.contextLength, maxTokens: 100 })[0]!;
const count = chunk.predicted.length;
const column = (low: number, high: number, seed: number): Feed => {
  const rng = new Rng(seed);
  return { data: Float32Array.from({ length: count }, () => low + (high - low) * rng.float()), shape: [count, 1] };
};
const scalar = (value: number): Feed => ({ data: Float32Array.of(value), shape: [] });
const shared: Record<string, Feed> = { ...parameterFeeds(config, weights), ...tableFeeds(config), ...chunk.feeds, inverseTemperature: column(0.7, 1.4, 1), weight: column(0.1, 1, 2) };
const policyFeeds: Record<string, Feed> = {
  advantage: column(-1, 1, 3), old: column(-2.6, -2.2, 4), importance: column(0.5, 2, 5), reference: column(-2.6, -2.2, 6),
  lowest: scalar(0.8), highest: scalar(1.28), klCoefficient: scalar(0.3), entropyCoefficient: scalar(0.2),
};

const float64 = (feeds: Record<string, Feed>): Record<string, ReferenceValue> => Object.fromEntries(Object.entries(feeds).map(([name, { data, shape }]) => [name, { shape, data: Float64Array.from(data) }]));

/** Analytic against central differences along one random direction per parameter tensor, all in float64. */
function directionalErrors(outputs: Outputs, feeds: Record<string, Feed>): number[] {
  const values = float64(feeds);
  const gradient = evaluate([outputs["gradient"]!], values)[0]!.data;
  let offset = 0;
  return parameterSpecs(config).map(({ name, shape }, i) => {
    const rng = new Rng(50 + i);
    const direction = Float64Array.from({ length: sizeOf(shape) }, () => rng.float() - 0.5);
    const own = values[name]!;
    const h = 1e-6;
    const moved = (step: number): number => evaluate([outputs["loss"]!], { ...values, [name]: { shape, data: own.data.map((x, at) => x + step * direction[at]!) } })[0]!.data[0]!;
    const numeric = (moved(h) - moved(-h)) / (2 * h);
    const analytic = direction.reduce((total, d, at) => total + d * gradient[offset + at]!, 0);
    offset += sizeOf(shape);
    expect(Math.abs(numeric)).toBeGreaterThan(1e-6);
    return Math.abs(numeric - analytic) / Math.abs(numeric);
  });
}

describe.each([
  ["cross-entropy", crossEntropyGraph(config, 12), shared],
  ["policy gradient", policyGradientGraph(config, 12, { kl: true, entropy: true }), { ...shared, ...policyFeeds }],
] as const)("%s of a two-layer model over packed rows", (_, outputs, feeds) => {
  it("has the gradients of central differences, in every tensor", () => {
    expect(Math.max(...directionalErrors(outputs, feeds))).toBeLessThan(1e-5);
  });

  it("runs as in the float64 reference", async () => {
    const session = await Session.create(outputs, 1);
    const results = await session.run(feeds);
    await session.release();
    const names = Object.keys(outputs);
    const expected = evaluate(Object.values(outputs), float64(feeds));
    names.forEach((name, i) => {
      const largest = Math.max(...expected[i]!.data.map(Math.abs));
      const error = Math.max(...expected[i]!.data.map((x, at) => Math.abs(results[name]![at]! - x)));
      expect(error / largest).toBeLessThan(2e-5);
    });
  });
});

describe("pack", () => {
  it("packs several items into one row and gives each target one place", () => {
    expect(chunk.length).toBe(12);
    expect(chunk.feeds["tokens"]!.shape).toEqual([24]);
    expect(chunk.predicted.toSorted((a, b) => a.item - b.item || a.token - b.token)).toEqual(items.flatMap(({ targets }, item) => targets.map((token) => ({ item, token }))));
  });

  it("splits rows over chunks within the token budget", () => {
    const many = Array.from({ length: 40 }, (_, i) => ({ tokens: new Int32Array(50 + i * 10), targets: [1] }));
    const chunks = pack(many, { contextLength: 512, maxTokens: 1024 });
    expect(chunks.flatMap(({ predicted }) => predicted.map(({ item }) => item)).sort((a, b) => a - b)).toEqual(many.map((_, i) => i));
    for (const { length, feeds } of chunks) {
      expect(rowLengths(512)).toContain(length);
      expect(feeds["tokens"]!.data.length).toBeLessThanOrEqual(1024);
    }
  });
});
