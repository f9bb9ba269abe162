import { describe, expect, it } from "vitest";
import type { Episode } from "../core/episode.ts";
import type { Segment } from "../core/trajectory.ts";
import { checkRendering, type RenderCheck } from "./render-check.ts";
import { converse, testChat, type TestChat } from "./testing/conversation.ts";
import { writeTinyModel } from "./testing/tiny-model.ts";

const opening = (_: unknown, observation: string): { system: string; user: string } => ({ system: "You act.", user: observation });

/** An episode as the loop records it. */
function recorded(chat: TestChat, id: string, changes: (segments: Segment[]) => void = () => undefined): Episode {
  const observations = ["A door.", "A wall.", "The end."];
  const replies = ["<think>\nhm\n</think>\n\n\\boxed{1}", "\\boxed{2}", "\\boxed{3}"];
  const { trajectory } = converse(chat, opening(0, observations[0]!), replies.map((reply, i) => [reply, ...(i < 2 ? [{ role: "user" as const, content: observations[i + 1]! }] : [])] as const));
  const segments = trajectory.segments.map((segment) => ({ ...segment, tokens: segment.tokens.slice() }));
  changes(segments);
  const turns = replies.map((response, i) => ({ observation: observations[i]!, response, action: String(i + 1), reward: 0 }));
  return { id, environmentId: "e", arm: "plain", seed: 0, play: 0, trajectory: { ...trajectory, segments }, turns, outcome: { kind: "terminated", reward: 1 } };
}

function check(chat: TestChat, more: Partial<RenderCheck> = {}): RenderCheck {
  return { renderer: chat.renderer, opening, share: 1, seed: 1, ...more };
}

describe.each(["chatml", "qwen3", "llama3"] as const)("%s", (family) => {
  it("finds nothing in what was recorded, in one row or several", async () => {
    const chat = await testChat(family);
    expect(recorded(chat, "a").trajectory.segments.filter(({ kind }) => kind === "prompt")).toHaveLength(family === "qwen3" ? 2 : 1);
    expect(checkRendering([recorded(chat, "a"), recorded(chat, "b")], check(chat))).toBe(2);
  });

  it("stops at the first token that differs and says where it is", async () => {
    const chat = await testChat(family);
    const broken = recorded(chat, "7/e/plain/0/1", (segments) => (segments[2]!.tokens[3]! ^= 1));
    expect(() => checkRendering([recorded(chat, "fine"), broken], check(chat))).toThrow(
      expect.objectContaining({ code: "chat.replay", details: { episode: "7/e/plain/0/1", turn: 1, segment: 2, token: 3 }, message: expect.stringMatching(/^Turn 1 of episode 7\/e\/plain\/0\/1 .*token 3 of its/) as string }) as Error,
    );
  });
});

it("sees a token too many, another kind of segment, another response, another template, another opening", async () => {
  const chat = await testChat("chatml");
  const fails = (episode: Episode, more: Partial<RenderCheck> = {}): (() => unknown) => () => checkRendering([episode], check(chat, more));
  expect(fails(recorded(chat, "a", (segments) => (segments[0] = { kind: "prompt", tokens: Int32Array.from([...segments[0]!.tokens, 5]) })))).toThrow(/is 5 in .* in the record and missing when/);
  expect(fails(recorded(chat, "a", (segments) => (segments[2] = { kind: "prompt", tokens: segments[2]!.tokens })))).toThrow(/kind prompt, rendering again gives observation/);
  expect(fails({ ...recorded(chat, "a"), turns: recorded(chat, "a").turns.map((turn) => ({ ...turn, response: "x" })) })).toThrow(/decode to .*, recorded is "x"/);
  const other = await testChat("chatml", { directory: writeTinyModel("chatml", { template: "{% for m in messages %}<|im_start|>{{ m.role }} {{ m.content }}<|im_end|>{% endfor %}" }) });
  expect(fails(recorded(chat, "a"), { renderer: other.renderer })).toThrow(/chat\.replay|does not render as it was recorded/);
  expect(fails(recorded(chat, "a"), { opening: () => ({ system: "", user: "B" }) })).toThrow(/Turn 0/);
});

it("checks a share that follows from the seed, and nothing at 0", async () => {
  const chat = await testChat("chatml");
  const episodes = Array.from({ length: 60 }, (_, i) => recorded(chat, `e${i}`));
  const some = checkRendering(episodes, check(chat, { share: 0.3 }));
  expect(some).toBeGreaterThan(6);
  expect(some).toBeLessThan(36);
  expect(checkRendering(episodes, check(chat, { share: 0.3 }))).toBe(some);
  expect(checkRendering(episodes, check(chat, { share: 0 }))).toBe(0);
});

it("passes over what the record cannot tell: an episode without turns, an observation that no turn followed", async () => {
  const chat = await testChat("chatml");
  const whole = recorded(chat, "a");
  expect(checkRendering([{ ...whole, turns: [] }, { ...whole, turns: whole.turns.slice(0, 1), trajectory: { ...whole.trajectory, segments: whole.trajectory.segments.slice(0, 3) } }], check(chat))).toBe(2);
});
