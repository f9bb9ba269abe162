import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Rng } from "../core/seed.ts";
import { EngineHost } from "./engine.ts";
import { drawToken } from "./token-sampler.ts";
import type { EngineSampleRequest, TransformerConfig } from "./types.ts";

const config: TransformerConfig = { vocabularySize: 40, width: 24, layers: 2, heads: 2, feedForward: 32, contextLength: 160, ropeBase: 10000 };
const stopToken = 39;

let host: EngineHost;
beforeAll(async () => {
  const plain = await EngineHost.create({ source: { kind: "seed", config, seed: 4 }, threads: 1 });
  const weights = Object.fromEntries(Object.entries(await plain.exportWeights()).map(([name, data]) => [name, data.map((x) => (x === 1 ? x : x * 6))]));
  await plain.close();
  host = await EngineHost.create({ source: { kind: "weights", config, weights }, threads: 1 });
});
afterAll(() => host.close());

function requests(count: number, temperature = 1): EngineSampleRequest[] {
  const rng = new Rng(7);
  return Array.from({ length: count }, (_, i) => ({
    prompt: Int32Array.from({ length: i % 3 === 0 ? 20 : rng.int(1, 120) }, (_unused, t) => (i % 3 === 0 ? t : rng.int(0, 38))),
    temperature, topP: 1, topK: 0, maxTokens: 90, stopToken, seed: i,
  }));
}

describe("EngineHost.sample", () => {
  it.each([0.7, 1, 1.5])("gives the trainer's log-probabilities at temperature %s", async (temperature) => {
    const asked = requests(100, temperature);
    const samples = await host.sample(asked);
    const rows = asked.map(({ prompt }, i) => ({ tokens: Int32Array.of(...prompt, ...samples[i]!.tokens), temperature }));
    const trainer = await host.logprobs(rows);
    samples.forEach((sample, i) => sample.logprobs.forEach((logprob, t) => expect(Math.abs(logprob - trainer[i]![asked[i]!.prompt.length + t]!)).toBeLessThan(1e-4)));
    expect(new Set(samples.map(({ stop }) => stop))).toEqual(new Set(["stop", "length"]));
  });

  it("repeats itself for equal calls and differs by seed", async () => {
    const asked = requests(30);
    const first = await host.sample(asked);
    expect(await host.sample(asked)).toEqual(first);
    const [base] = asked;
    const others = await host.sample(Array.from({ length: 20 }, (_, seed) => ({ ...base!, seed, maxTokens: 5 })));
    expect(new Set(others.map(({ tokens }) => tokens.join())).size).toBeGreaterThan(10);
  });

  it("ends at the stop token, the token limit or the context's end", async () => {
    for (const [i, { tokens, logprobs, stop }] of (await host.sample(requests(60))).entries()) {
      expect(logprobs).toHaveLength(tokens.length);
      expect(tokens.indexOf(stopToken)).toBe(stop === "stop" ? tokens.length - 1 : -1);
      if (stop === "length") expect(tokens.length).toBe(Math.min(90, 160 - requests(60)[i]!.prompt.length));
    }
  });

  it("takes the most probable token at temperature 0", async () => {
    const [asked] = requests(1, 0);
    const [sample] = await host.sample([{ ...asked!, maxTokens: 1 }]);
    const others = await host.sample(Array.from({ length: 200 }, (_, seed) => ({ ...asked!, temperature: 1, maxTokens: 1, seed })));
    expect(sample!.logprobs[0]).toBeGreaterThanOrEqual(Math.max(...others.map(({ logprobs }) => logprobs[0]!)));
  });

  it("refuses a prompt that fills the context, and bad requests", async () => {
    const [asked] = requests(1);
    await expect(host.sample([{ ...asked!, prompt: new Int32Array(160) }])).rejects.toMatchObject({ code: "engine.contextLength" });
    for (const bad of [{ prompt: new Int32Array() }, { prompt: Int32Array.of(40) }, { temperature: NaN }, { topP: 0 }, { maxTokens: 0 }]) {
      await expect(host.sample([{ ...asked!, ...bad }])).rejects.toMatchObject({ code: "engine.request" });
    }
    expect(await host.sample([])).toEqual([]);
  });
});

describe("drawToken", () => {
  const logits = Float32Array.of(1, 3, 2, -1);
  const weights = [...logits].map((x) => Math.exp(x / 2));
  const total = weights.reduce((a, b) => a + b);

  it("draws with the probabilities of the softmax and reports them", () => {
    const rng = new Rng(1);
    const counts = [0, 0, 0, 0];
    for (let i = 0; i < 20_000; i++) {
      const { token, logprob } = drawToken(logits, { temperature: 2, topP: 1, topK: 0 }, rng);
      counts[token]! += 1;
      expect(logprob).toBeCloseTo(Math.log(weights[token]! / total), 10);
    }
    counts.forEach((count, token) => expect(Math.abs(count / 20_000 - weights[token]! / total)).toBeLessThan(0.012));
  });

  it.each([
    [{ topK: 2, topP: 1 }, [1, 2]],
    [{ topK: 0, topP: 0.5 }, [1, 2]],
    [{ topK: 1, topP: 1 }, [1]],
  ])("keeps only the most probable tokens with %o", (truncation, allowed) => {
    const rng = new Rng(2);
    const drawn = new Set(Array.from({ length: 500 }, () => drawToken(logits, { temperature: 2, ...truncation }, rng).token));
    expect([...drawn].sort()).toEqual(allowed);
  });
});
