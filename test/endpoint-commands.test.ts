import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ChatMessage } from "../src/core/chat.ts";
import { ScriptedEndpoint, type ScriptedEndpointOptions } from "../src/policy/openai/testing/scripted-endpoint.ts";
import { written } from "../src/selfplay/testing/scripted-loop.ts";
import { eventsOf, type Finished, packageRoot, spadeInShell, workDirectory, writeConfig } from "./command.ts";

vi.setConfig({ testTimeout: 240_000 });
const { path, remove } = workDirectory();
afterAll(remove);

let stack: AsyncDisposableStack;
beforeEach(() => {
  stack = new AsyncDisposableStack();
});
afterEach(() => stack.disposeAsync());

const game = join(packageRoot, "test/suite/even_step.py");
const key = "sk-test-1234";
const spade = (...words: readonly string[]): Promise<Finished> => spadeInShell(`export SPADE_TEST_KEY=${key}`, ...words);

/** A model that writes one sound game, gives a hint, and plays well with it and badly without. */
function respond(messages: readonly ChatMessage[]): string {
  const [system = "", user = ""] = messages.map(({ content }) => content);
  if (system.startsWith("You design")) return written(readFileSync(game, "utf8"));
  if (system.startsWith("You advise")) return "Add the same step again.";
  const [first = 0, second = 0, third = 0] = (user.match(/\d+/g) ?? []).map(Number);
  return `\\boxed{${third + (user.includes("Hint:") ? second - first : 0)}}`;
}

async function serve(model: string, options: Partial<ScriptedEndpointOptions> = {}): Promise<ScriptedEndpoint> {
  return stack.use(await ScriptedEndpoint.start({ model, key, chat: respond, ...options }));
}

/** Configuration of an endpoint, with another one that writes the hints. */
function configure(name: string, { policy, advisor }: { readonly policy: ScriptedEndpoint; readonly advisor: ScriptedEndpoint }, changes: object = {}): string {
  const endpoint = { kind: "openai", apiKeyEnv: "SPADE_TEST_KEY", prices: { input: 1, output: 2 } };
  const config = {
    policy: { ...endpoint, baseUrl: policy.baseUrl, model: "tests/large", ...changes },
    advisor: { policy: { ...endpoint, baseUrl: advisor.baseUrl, model: "tests/small" } },
    prompts: "full",
    design: { tasksPerIteration: 1, activeSkills: 1, maxAttempts: 1, sampling: { maxTokens: 4000 } },
    gates: { grounded: { enabled: false }, novelty: { enabled: false } },
    sandbox: { lanes: 1 },
    evaluation: { suites: [join(packageRoot, "test/suite")] },
  };
  writeFileSync(path(name), JSON.stringify(config));
  return path(name);
}

test("designs with one model, hints with another, stops at the limit with code 3, goes on, plays what it made, and evaluates", async () => {
  const endpoints = { policy: await serve("tests/large"), advisor: await serve("tests/small") };
  const [config, directory] = [configure("limited.json", endpoints, { limit: { tokens: 100 } }), path("designs")];
  const limited = await spade("design", "--policy", config, "--tasks", "2", "--out", directory, "--json");
  expect(limited.stderr).toContain("policy.budget");
  expect(limited.stderr).toContain(`design --resume ${directory}`);
  expect(limited.code).toBe(3);
  expect(JSON.parse(limited.stdout)).toMatchObject({ tasks: 1, candidates: 1, admitted: 1, hinted: 1, spent: { policy: { replies: 1 }, advisor: { replies: 1 } } });

  const resumed = await spade("design", "--resume", directory);
  expect(resumed.stderr).not.toContain("policy.");
  expect(resumed.code).toBe(0);
  expect((await spade("train", "--resume", directory)).stderr).toContain(`spade design --resume ${directory}`);
  expect(resumed.stdout).toMatch(/2 admitted, 2 of them with a hint/);
  expect(resumed.stdout).toMatch(/policy: 1 replies, \d+ tokens in.*, cost 0\.0/);
  expect(endpoints.policy.bodies).toHaveLength(2);
  expect(readdirSync(join(directory, "programs")).sort()).toEqual(["0.0.0.json", "0.0.0.py", "1.0.0.json", "1.0.0.py"]);
  expect(JSON.parse(readFileSync(join(directory, "programs/0.0.0.json"), "utf8"))).toMatchObject({ hint: "Add the same step again.", gates: expect.arrayContaining([expect.objectContaining({ gate: "solvable", passed: true })]) as unknown });
  expect(readFileSync(join(directory, "run.sqlite")).includes(key)).toBe(false);

  const free = configure("free.json", endpoints);
  const played = await spade("rollout", join(directory, "programs"), "--policy", free, "--seeds", "3", "--hint", "--out", path("played.jsonl"), "--json");
  expect(played.code).toBe(0);
  expect(JSON.parse(played.stdout)).toMatchObject({ plain: { overall: { winRate: 0, episodes: 6 } }, hint: { overall: { winRate: 1, episodes: 6 } }, gain: { difference: 1 } });
  const lines = readFileSync(path("played.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line) as { readonly arm: string });
  expect(lines).toHaveLength(12);
  const plain = lines.find(({ arm }) => arm === "plain");
  expect(plain).toMatchObject({ return: 0, turns: [{ response: expect.stringContaining("\\boxed{") as string }] });
  expect(plain).not.toHaveProperty("segments");

  const evaluated = await spade("evaluate", free, "--seeds", "2", "--json");
  expect(evaluated.code).toBe(0);
  expect(JSON.parse(evaluated.stdout)).toMatchObject([{ subject: "tests/large", evaluation: { overall: { winRate: 0, episodes: 2 } } }]);
});

test("training tells what its endpoints took when it stops, at a limit too", async () => {
  const [designer, advisor] = [await serve("tests/large"), await serve("tests/small")];
  const endpoint = { kind: "openai", apiKeyEnv: "SPADE_TEST_KEY", prices: { input: 1, output: 2 } };
  const config = writeConfig(path("spending.json"), {
    run: { iterations: 2 },
    designer: { kind: "fixed", policy: { ...endpoint, baseUrl: designer.baseUrl, model: "tests/large", limit: { tokens: 1 } }, prompts: "full" },
    advisor: { policy: { ...endpoint, baseUrl: advisor.baseUrl, model: "tests/small" } },
    design: { tasksPerIteration: 1, activeSkills: 1, maxAttempts: 1, sampling: { temperature: 1, maxTokens: 4000 } },
    sandbox: { lanes: 1 },
    evaluation: { suites: [] },
  });
  const limited = await spade("train", config, "--out", path("spending"), "--json");
  expect([limited.code, limited.stderr]).toEqual([3, expect.stringContaining("policy.budget")]);
  expect(eventsOf(limited).at(-1)).toMatchObject({ kind: "spent", spent: { designer: { replies: 1 }, advisor: { replies: 1 } } });
  const resumed = await spade("train", "--resume", path("spending"));
  expect([resumed.code, resumed.stderr]).toEqual([0, ""]);
  expect(resumed.stdout).toMatch(/\ndesigner: 1 replies, \d+ tokens in.*, cost 0\.0\d+\nadvisor: 1 replies, \d+ tokens in/);
});

test("training is refused when the configuration is read, and bad input before anything is asked", async () => {
  const endpoints = { policy: await serve("tests/large"), advisor: await serve("tests/small") };
  const config = configure("train.json", endpoints);
  const train = await spade("train", config, "--out", path("never"));
  expect(train.code).toBe(2);
  expect(train.stderr).toMatch(/config\.cannotTrain.*policy\.kind is "openai".*set policy\.kind to "tinker".*or "embedded"/);
  expect(existsSync(path("never"))).toBe(false);
  const nothing = await spade("rollout", path("nothing.py"), "--policy", config);
  expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringContaining("is no program (.py, .ts)")]);
  const wrongKey = await spadeInShell("export SPADE_TEST_KEY=sk-other", "rollout", game, "--policy", config, "--out", path("wrong.jsonl"));
  expect([wrongKey.code, wrongKey.stderr]).toEqual([1, expect.stringMatching(/policy\.key.*SPADE_TEST_KEY/)]);
  expect(wrongKey.stderr).not.toContain("sk-other");
  expect(existsSync(path("wrong.jsonl"))).toBe(false);
  const wrongModel = await spade("design", "--policy", configure("model.json", endpoints, { model: "tests/other" }), "--out", path("unknown"));
  expect([wrongModel.code, wrongModel.stderr]).toEqual([1, expect.stringMatching(/policy\.model.*tests\/large/)]);
  expect(existsSync(path("unknown"))).toBe(false);
  expect(endpoints.policy.bodies).toHaveLength(0);
});
