import { describe, expect, it } from "vitest";
import { embeddedRenderer } from "../chat/renderer.ts";
import type { SampleRequest } from "./policy.ts";
import { recordedPolicy, type Recording, recordingPolicy } from "./recorded.ts";
import { scriptedPolicy } from "./scripted.ts";
import { byteTokenizer } from "./testing/byte-tokenizer.ts";
import { policyContract } from "./testing/contract.ts";

const renderer = embeddedRenderer(byteTokenizer);
const policy = scriptedPolicy({
  tokenizer: byteTokenizer,
  respond: ({ messages, last, seed }) => `${messages.map(({ role }) => role[0]).join("")} ${last} ${seed}`,
  policyVersion: 3,
});

function request(maxTokens: number, more: Int32Array[] = []): SampleRequest {
  const prompt = Int32Array.from([...renderer.prompt({ system: "agent", user: "hello" }), ...more.flatMap((tokens) => [...tokens])]);
  return { prompt, sampling: { temperature: 1, topP: 1, topK: 0, maxTokens }, seed: 5 };
}

policyContract("scripted", () =>
  Promise.resolve({
    policy: scriptedPolicy({ tokenizer: byteTokenizer, respond: ({ last, seed }) => (seed % 2 === 0 ? last : "a longer answer") }),
    stopToken: byteTokenizer.special.end,
    prompt: (i) => renderer.prompt({ system: "agent", user: `${i}` }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }),
);

describe("scriptedPolicy", () => {
  it("answers from the messages of the prompt, with one log-probability per token", async () => {
    const [sample] = await policy.sample([request(100)]);
    expect(renderer.text(sample!.tokens)).toBe("su hello 5");
    expect(sample!.tokens.at(-1)).toBe(byteTokenizer.special.end);
    expect(sample).toMatchObject({ stop: "stop", policyVersion: 3, logprobs: new Float32Array(sample!.tokens.length) });
  });

  it("sees later turns and its own answers", async () => {
    const [first] = await policy.sample([request(100)]);
    const [second] = await policy.sample([request(100, [first!.tokens, renderer.observation("again")])]);
    expect(renderer.text(second!.tokens)).toBe("suau again 5");
  });

  it("cuts at maxTokens", async () => {
    const [sample] = await policy.sample([request(4)]);
    expect(sample).toMatchObject({ stop: "length" });
    expect(renderer.text(sample!.tokens)).toBe("su h");
  });
});

describe("recordedPolicy", () => {
  it("repeats what was recorded and refuses anything else", async () => {
    const recording: Recording = new Map();
    const samples = await recordingPolicy(policy, recording).sample([request(100), request(4)]);
    const replay = recordedPolicy(recording, policy.contextLength);
    expect(await replay.sample([request(4), request(100)])).toEqual([samples[1], samples[0]]);
    await expect(replay.sample([request(5)])).rejects.toMatchObject({ code: "policy.unrecorded" });
  });
});
