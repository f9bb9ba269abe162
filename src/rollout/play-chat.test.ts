import { expect, it } from "vitest";
import { actionIn } from "../chat/action.ts";
import { checkRendering } from "../chat/render-check.ts";
import { testChat, type TestChat } from "../chat/testing/conversation.ts";
import type { Episode } from "../core/episode.ts";
import { flatten, rowsOf, tokenCount } from "../core/trajectory.ts";
import { fullPrompts } from "../designer/full-prompts.ts";
import type { Policy, SampleRequest } from "../policy/policy.ts";
import { playEpisodes } from "./play.ts";
import { fakeSandbox } from "./testing/fake-sandbox.ts";

const thought = Array.from({ length: 50 }, (_, i) => `because${i}`).join(" ");
const replies = [1, 2, 3].map((turn) => `<think>\n${turn} ${thought}\n</think>\n\nI go \\boxed{${turn}}`);

/** Says `replies` in order, counted by the prompt's own markers. */
function policyOf(chat: TestChat, asked: SampleRequest[], contextLength = 4096): Policy {
  return {
    contextLength,
    sample: (requests) =>
      Promise.resolve(
        requests.map((request) => {
          asked.push(request);
          const turn = chat.tokenizer.decode(request.prompt).split("marker").length - 2;
          const tokens = chat.said(replies[turn] ?? "");
          return { tokens, logprobs: new Float32Array(tokens.length).fill(-1), stop: "stop" as const, policyVersion: 0 };
        }),
      ),
  };
}

/** Three turns; every observation starts with a marker. */
const environments = {
  boxed: () => ({ reset: () => "marker0 a door", step: (action: string) => ({ observation: `marker${action} a wall`, reward: 1, terminated: action === "3" }) }),
};

async function play(chat: TestChat, policy: Policy): Promise<Episode> {
  const episodes = await playEpisodes({
    environments: [{ environment: { id: "e", program: { language: "python", source: "boxed" }, maxTurns: 5 }, seeds: [0] }],
    plays: { plain: 1, hint: 0 },
    sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 500 },
    dialogue: { renderer: chat.renderer, prompt: fullPrompts.play, parseAction: actionIn },
    policy,
    sandbox: fakeSandbox({ environments }),
    runSeed: 1,
    iteration: 0,
  });
  return episodes[0]!;
}

it.each([
  ["chatml", 1],
  ["qwen25", 1],
  ["llama3", 1],
  ["qwen3", 3],
] as const)("%s plays an episode in %i rows whose tokens are those that were asked for and sampled (T13)", async (family, count) => {
  const chat = await testChat(family);
  const asked: SampleRequest[] = [];
  const episode = await play(chat, policyOf(chat, asked));
  expect(episode.outcome).toEqual({ kind: "terminated", reward: 1 });
  expect(episode.turns.map(({ action }) => action)).toEqual(["1", "2", "3"]);
  const rows = rowsOf(episode.trajectory);
  expect(rows).toHaveLength(count);
  const flat = rows.map(flatten);
  const last = flat.at(-1)!;
  const final = chat.said(replies[2]!);
  expect([...last.tokens]).toEqual([...asked[2]!.prompt, ...final]);
  expect(flat.reduce((sum, { mask }) => sum + mask.reduce((a, b) => a + b, 0), 0)).toBe(replies.reduce((sum, reply) => sum + chat.said(reply).length, 0));
  expect(flat.every(({ tokens, mask, logprobs }) => tokens.every((_, t) => (mask[t] === 1 ? logprobs[t] === -1 : logprobs[t] === 0)))).toBe(true);
  expect(checkRendering([episode], { renderer: chat.renderer, opening: (_, observation) => fullPrompts.play(observation), share: 1, seed: 0 })).toBe(1);
});

it("counts the context of the row alone", async () => {
  const chat = await testChat("qwen3");
  const whole = await play(chat, policyOf(chat, []));
  const longest = Math.max(...rowsOf(whole.trajectory).map(tokenCount));
  expect(tokenCount(whole.trajectory)).toBeGreaterThan(2 * longest);
  const tight = await play(chat, policyOf(chat, [], longest));
  expect(tight).toEqual(whole);
});
