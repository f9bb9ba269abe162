import { expect, test } from "vitest";
import { textRenderer } from "../chat/text-renderer.ts";
import { loadConfig } from "../config/load.ts";
import type { AnyPolicy } from "../policy/policy.ts";
import { fakeSandbox } from "../rollout/testing/fake-sandbox.ts";
import { playRollouts, scoreRollouts } from "./rollouts.ts";

test("no episode waits for a slow one, and only as many begin as keep the policy busy", async () => {
  const ids = Array.from({ length: 40 }, (_, i) => `program-${i}.py`);
  const sandbox = fakeSandbox({ environments: { game: () => ({ reset: () => "say 1", step: (action) => ({ reward: Number(action), terminated: true }) }) } });
  const { config } = loadConfig("smoke", { policy: { kind: "openai", baseUrl: "http://127.0.0.1:1/v1", model: "tests/chat", maxConcurrentSamples: 3 }, prompts: "full" });
  const othersOver = Promise.withResolvers<undefined>();
  const [asked, ended]: [string[], string[]] = [[], []];
  let mostUnderWay = 0;
  const policy: AnyPolicy = {
    contextLength: Infinity,
    concurrent: true,
    sample: async ([request]) => {
      asked.push(request?.session ?? "");
      mostUnderWay = Math.max(mostUnderWay, asked.length - ended.length);
      if (request?.session?.includes("program-0.py") === true) await othersOver.promise;
      return [{ text: "\\boxed{1}", tokenCount: 4, stop: "stop", policyVersion: 0 }];
    },
  };
  const options = { environments: ids.map((id) => ({ id, program: { language: "python" as const, source: "game" } })), speaker: { policy, renderer: textRenderer }, sandbox, config, seeds: 1, plays: 1, withHint: false };
  const episodes = await playRollouts({
    ...options,
    onEpisode: ({ id }) => {
      ended.push(id);
      if (ended.length === ids.length - 1) othersOver.resolve(undefined);
    },
  });
  expect(episodes.map(({ environmentId }) => environmentId)).toEqual(ids);
  expect(asked[0]).toContain("program-0.py");
  expect(ended.at(-1)).toBe(asked[0]);
  expect(mostUnderWay).toBe(6);
  expect(scoreRollouts(episodes, options)).toMatchObject({ plain: { overall: { winRate: 1, episodes: 40 } } });
});
