import { expect, it } from "vitest";
import { actionIn } from "../chat/action.ts";
import { textRenderer } from "../chat/text-renderer.ts";
import type { Prompt } from "../core/chat.ts";
import type { Episode } from "../core/episode.ts";
import { fullPrompts } from "../designer/full-prompts.ts";
import type { AnyPolicy, TextSample } from "../policy/policy.ts";
import { playEpisodes } from "./play.ts";
import { fakeSandbox } from "./testing/fake-sandbox.ts";

/** Three turns; the action is the number of the next one. */
const environments = { boxed: () => ({ reset: () => "a door", step: (action: string) => ({ observation: `wall ${action}`, reward: 1, terminated: action === "3" }) }) };

async function play(replies: readonly Partial<TextSample>[]): Promise<{ readonly episode: Episode; readonly asked: readonly Prompt[] }> {
  const asked: Prompt[] = [];
  const policy: AnyPolicy = {
    contextLength: Infinity,
    sample: (requests) =>
      Promise.resolve(
        requests.map(({ prompt }) => {
          asked.push(prompt);
          return { text: "", tokenCount: 3, stop: "stop" as const, policyVersion: 0, ...replies[asked.length - 1] };
        }),
      ),
  };
  const [episode] = await playEpisodes({
    environments: [{ environment: { id: "e", program: { language: "python", source: "boxed" }, maxTurns: 5 }, seeds: [0] }],
    plays: { plain: 1, hint: 0 },
    sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 500 },
    dialogue: { renderer: textRenderer, prompt: fullPrompts.play, parseAction: actionIn },
    policy,
    sandbox: fakeSandbox({ environments }),
    runSeed: 1,
    iteration: 0,
  });
  return { episode: episode!, asked };
}

it("plays an episode with text alone: the chat grows by what was said, without thoughts, and there are no tokens", async () => {
  const { episode, asked } = await play([1, 2, 3].map((turn) => ({ text: `<think>\nturn ${turn}\n</think>\n\nI go \\boxed{${turn}}` })));
  expect(episode.outcome).toEqual({ kind: "terminated", reward: 1 });
  expect(episode.turns.map(({ action, response }) => [action, response.includes("<think>")])).toEqual([["1", true], ["2", true], ["3", true]]);
  expect(episode.trajectory.segments).toEqual([]);
  expect(asked[2]).toEqual([
    { role: "system", content: fullPrompts.play("a door").system },
    { role: "user", content: "a door" },
    { role: "assistant", content: "I go \\boxed{1}" },
    { role: "user", content: "wall 1" },
    { role: "assistant", content: "I go \\boxed{2}" },
    { role: "user", content: "wall 2" },
  ]);
});

it.each<[Partial<TextSample>, string]>([
  [{ text: "nothing in a box" }, "action"],
  [{ text: "<think>\nnever ends \\boxed{1}", stop: "length" }, "length"],
  [{ stop: "context" }, "context"],
])("ends where nothing can be done: %o", async (reply, reason) => {
  expect((await play([{ text: "\\boxed{1}" }, reply])).episode.outcome).toEqual({ kind: "truncated", reason });
});
