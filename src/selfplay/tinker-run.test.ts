import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { loadConfig } from "../config/load.ts";
import { loadTokenizer } from "../engine/bpe.ts";
import { scriptedPolicy, type ScriptedPrompt } from "../policy/scripted.ts";
import { type Fault, ScriptedServer } from "../policy/tinker/testing/scripted-server.ts";
import { policyModel, type ServedModel } from "../policy/tinker/testing/served-model.ts";
import { RunStore } from "../storage/run-store.ts";
import type { RunEvent } from "./events.ts";
import { packagePath } from "./paths.ts";
import { createRun, resumeRun, type RunResult } from "./run.ts";
import { written } from "./testing/scripted-loop.ts";

vi.setConfig({ testTimeout: 180_000 });
const root = mkdtempSync(join(tmpdir(), "spade-tinker-run-"));
afterAll(() => rmSync(root, { recursive: true }));

const baseModel = "tests/scripted";

/** A model that writes one sound game, and plays it well or badly by the seed. */
async function servedModel(): Promise<ServedModel> {
  const tokenizer = await loadTokenizer(packagePath("models/nano/tokenizer.json"));
  const game = readFileSync(packagePath("test/suite/even_step.py"), "utf8");
  const respond = ({ messages, last, seed }: ScriptedPrompt): string => {
    const system = messages[0]?.text ?? "";
    if (system === "designer") return written(game);
    const [first = 0, second = 0, third = 0] = (last.match(/\d+/g) ?? []).map(Number);
    return system === "hint" ? "Add the same step again." : `\\boxed{${third + (seed % 2 === 0 ? second - first : 0)}}`;
  };
  return policyModel(scriptedPolicy({ tokenizer, respond, contextLength: 1024 }));
}

async function serve(faults: readonly Fault[] = []): Promise<ScriptedServer> {
  const model = await servedModel();
  return ScriptedServer.start({ baseModel, contextLength: 1024, newModel: () => model, faults, key: "tml-test" });
}

interface Started {
  readonly directory: string;
  readonly events: RunEvent[];
  readonly result: Promise<RunResult>;
}

const readVariable = (name: string): string | undefined => (name === "TEST_TINKER_KEY" ? "tml-test" : undefined);

function train(name: string, { baseUrl }: ScriptedServer, changes: object = {}, others: Readonly<Record<"run" | "update", object>> = { run: { iterations: 1 }, update: {} }): Started {
  const loaded = loadConfig("smoke", {
    policy: { kind: "tinker", baseUrl, model: baseModel, tokenizer: "models/nano", profile: "hosted", apiKeyEnv: "TEST_TINKER_KEY", ...changes },
    run: others.run,
    design: { tasksPerIteration: 1, activeSkills: 1, sampling: { temperature: 1 }, hintSampling: { maxTokens: 24 } },
    play: { seedsPerEnvironment: 2, playsPerSeed: 4 },
    gates: { grounded: { enabled: false } },
    curriculum: { replays: 0 },
    update: { ...others.update, loss: { entropyCoefficient: 0 } },
    evaluation: { suites: [] },
  });
  const [directory, events] = [join(root, name), [] as RunEvent[]];
  const listener = (event: RunEvent): void => void events.push(event);
  return { directory, events, result: createRun({ directory, name, loaded, programVersion: "0", provenance: {}, listener, readVariable }) };
}

const resume = (directory: string): Promise<RunResult> => resumeRun({ directory, programVersion: "0", listener: () => undefined, readVariable });

/** What a run recorded, but for where its server was. */
function recordOf(directory: string): Readonly<Record<"updates" | "episodes" | "advantages", readonly unknown[]>> {
  using store = RunStore.openReadOnly(directory);
  return { updates: [...store.rows("updates")], episodes: [...store.rows("episodes")], advantages: [...store.rows("advantages")] };
}

test("a run trains on a Tinker server, and after a fault in an update ends by --resume as an undisturbed one", async () => {
  await using server = await serve();
  const { directory, events, result } = train("whole", server);
  await result;
  expect(server.count("optim_step")).toBeGreaterThan(0);
  expect(server.requests.at(-1), "the adapter is freed").toBe("unload_model");
  expect(events.at(-1)?.kind).toBe("end");
  const whole = recordOf(directory);
  expect(whole.updates).toHaveLength(1);
  expect(JSON.stringify(whole)).not.toContain("tml-test");

  await using faulty = await serve([{ at: "optim_step", kind: "status", status: 400, body: { detail: "injected" } }]);
  const failed = train("faulty", faulty);
  const error: unknown = await failed.result.catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: "policy.request" });
  const [batch] = readdirSync(failed.directory).filter((name) => name.startsWith("failed-update-"));
  expect((error as Error).message).toContain(batch);
  const saved = JSON.parse(readFileSync(join(failed.directory, batch ?? ""), "utf8")) as { readonly error: { readonly code: string }; readonly batch: { readonly rows: readonly unknown[] } };
  expect(saved.error.code).toBe("policy.request");
  expect(saved.batch.rows.length).toBeGreaterThan(0);
  await resume(failed.directory);
  expect(recordOf(failed.directory)).toEqual(whole);
  expect(faulty.count("load_weights")).toBe(1);
  expect(faulty.count("optim_step")).toBe(server.count("optim_step"));
});

test("asynchronous: the next iteration is sampled during an update, from the version before; no update is lost or doubled by a fault and --resume", async () => {
  const ahead = { run: { iterations: 3 }, update: { asynchronous: true, maxPolicyLag: 1 } };
  /** Policy version that sampled the first design of each iteration, and the version that its update made. */
  const versions = (directory: string): unknown => {
    using store = RunStore.openReadOnly(directory);
    const sampled = [...store.rows("segments")].filter(({ owner, kind }) => owner === "design" && kind === "sampled").map(({ iteration, policyVersion }) => [iteration, policyVersion]);
    const made = [...store.rows("updates")].map(({ iteration, policyVersion }) => [iteration, policyVersion]);
    const lags = [...store.rows("segments")].map(({ iteration, policyVersion = iteration - 1 }) => iteration - 1 - policyVersion);
    return { sampled, made, lags: [...new Set(lags)].every((lag) => lag === 0 || lag === 1) };
  };
  await using server = await serve();
  const whole = train("ahead", server, {}, ahead);
  await whole.result;
  expect(versions(whole.directory)).toEqual({ sampled: [[1, 0], [2, 0], [3, 1]], made: [[1, 1], [2, 2], [3, 3]], lags: true });

  await using faulty = await serve([{ at: "optim_step", after: server.count("optim_step") / 3, kind: "status", status: 400, body: { detail: "injected" } }]);
  const failed = train("ahead-faulty", faulty, {}, ahead);
  await expect(failed.result).rejects.toMatchObject({ code: "policy.request" });
  await resume(failed.directory);
  // Iteration 2 is begun again, and then from the weights before it.
  expect(versions(failed.directory)).toEqual({ sampled: [[1, 0], [2, 1], [3, 1]], made: [[1, 1], [2, 2], [3, 3]], lags: true });
  expect(faulty.count("optim_step")).toBe(server.count("optim_step"));
});

test("a key comes from the environment only, and a missing one is named before a run is made", async () => {
  await using server = await serve();
  const { directory, result } = train("key", server, { apiKeyEnv: "NO_SUCH_KEY" });
  await expect(result).rejects.toMatchObject({ code: "http.key", message: expect.stringContaining("NO_SUCH_KEY") as string });
  expect(existsSync(directory)).toBe(false);
  expect(server.requests).toEqual([]);
});

test.each<readonly [string, object, string]>([
  ["a key in the configuration", { policy: { apiKeyEnv: "tml-a-key-itself" } }, "never the key itself"],
  ["a password in the URL", { policy: { baseUrl: "https://me:secret@example.org" } }, "no user or password"],
  ["a URL of another kind", { policy: { baseUrl: "ftp://example.org" } }, "policy.baseUrl"],
  ["an entropy term", { update: { loss: { entropyCoefficient: 0.01 } } }, "update.loss.entropyCoefficient"],
  ["a KL term", { update: { loss: { klCoefficient: 0.01 } } }, "update.loss.klCoefficient"],
  ["a temperature that servers do not train", { play: { sampling: { temperature: 0.7 } } }, "temperature 1"],
  ["rows older than the bound", { update: { asynchronous: true, maxPolicyLag: 0 } }, "designer rows grow 1 versions old"],
  ["threads of another engine", { policy: { threads: 2 } }, "policy.threads"],
])("what Tinker servers cannot do is refused when the configuration is read: %s", (_name, changes, says) => {
  const base = { policy: { kind: "tinker", baseUrl: "http://127.0.0.1:9", model: "m", tokenizer: "models/nano", profile: "hosted" } };
  const { policy, ...rest } = changes as { policy?: object };
  expect(() => loadConfig("smoke", { design: { sampling: { temperature: 1 } }, update: { loss: { entropyCoefficient: 0 } }, ...rest, policy: { ...base.policy, ...policy } })).toThrow(says);
});
