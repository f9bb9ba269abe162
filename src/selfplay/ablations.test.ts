import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import { mergeInputs } from "../config/merge.ts";
import { presets } from "../config/presets.ts";
import { addition, oneTurn } from "../gates/testing/programs.ts";
import { byteTokenizer } from "../policy/testing/byte-tokenizer.ts";
import { openSandbox } from "../sandbox/pool.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { RunStore } from "../storage/run-store.ts";
import { createRun } from "./run.ts";
import type { LoopState } from "./state.ts";
import { scriptedLoop, type Script, type ScriptedLoop, type ScriptedLoopOptions, written } from "./testing/scripted-loop.ts";

const root = mkdtempSync(join(tmpdir(), "spade-ablations-"));
afterAll(() => rmSync(root, { recursive: true }));
/** A pool of one program that takes a difficulty and one that does not. */
const pool = root;
copyFileSync(new URL("../../environments/pool/sum.py", import.meta.url), join(pool, "sum.py"));
writeFileSync(join(pool, "fixed.py"), oneTurn({ reset: addition }));

describe("with a scripted policy", () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await openSandbox({ lanes: 1 });
  }, 120_000);
  afterAll(() => sandbox.close());

  const sum = (text: string): number => (text.match(/\d+/g) ?? []).map(Number).reduce((a, b) => a + b, 0);
  /** Adds up whatever numbers it sees; errs on every other request where `sometimes`. */
  const script = (sometimes: boolean): Script => ({
    design: () => written(oneTurn({ reset: addition })),
    hint: () => "Add both numbers of pieces with care.",
    act: ({ last, seed }) => `\\boxed{${sum(last) + (sometimes ? seed % 2 : 0)}}`,
  });

  async function run(changes: object, sometimes: boolean | Script, iterations: number, options: ScriptedLoopOptions = {}): Promise<ScriptedLoop> {
    const loop = await scriptedLoop(sandbox, typeof sometimes === "boolean" ? script(sometimes) : sometimes, changes, options);
    for (let i = 0; i < iterations; i++) await loop.next();
    return loop;
  }

  test("an untrained designer is paid for the record, but none of its rows reaches the trainer", async () => {
    using loop = disposable(await run({ designer: { kind: "untrained" }, design: { activeSkills: 1, sampling: { maxTokens: 2000 } } }, true, 1));
    expect([...loop.store.rows("rewards")].length).toBeGreaterThan(0);
    const roles = new Set(loop.trainer.batches.flat().map(({ trajectory }) => trajectory.role));
    expect(roles).toEqual(new Set(["agent"]));
    expect([...loop.store.rows("advantages")].filter(({ role }) => role === "designer")).toEqual([]);
  }, 120_000);

  test("a fixed designer that gives text is paid at the end of its window, and nothing that it said is kept as tokens or trained", async () => {
    const fixed = { kind: "fixed", policy: { kind: "openai", baseUrl: "http://127.0.0.1:1/v1", model: "tests/chat" } };
    const options = { designer: fixed, design: { activeSkills: 1, regenerateEvery: 2, invalidReward: -0.1, sampling: { maxTokens: 2000 } } };
    const halfRubbish: Script = { ...script(true), design: ({ seed }) => (seed % 2 === 0 ? written(oneTurn({ reset: addition })) : "I cannot.") };
    using loop = disposable(await run(options, halfRubbish, 2));
    const designs = [...loop.store.rows("environments")];
    expect(new Set(designs.map(({ admitted }) => admitted))).toEqual(new Set([true, false]));
    const rewards = [...loop.store.rows("rewards")].map(({ iteration, subjectId, components }) => [iteration, subjectId, "invalid" in components]);
    expect(rewards.sort()).toEqual(designs.map(({ id, admitted }) => [2, id, !admitted]).sort());
    expect(loop.store.rows("segments").some(({ owner }) => owner !== "episode")).toBe(false);
    expect(loop.trainer.batches.flat().map(({ trajectory }) => trajectory.role).filter((role) => role !== "agent")).toEqual([]);
    expect(loop.trainer.batches.flat().length).toBeGreaterThan(0);
  }, 120_000);

  test.each(["compact", "full"])("without documents, %s prompts name none and no gate asks for grounding", async (prompts) => {
    using loop = disposable(await run({ prompts, design: { documents: false, sampling: { maxTokens: 2000 } } }, true, 1));
    const asked = loop.requests.map(({ prompt }) => byteTokenizer.decode(prompt)).filter((text) => /designer|You design/.test(text));
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter((text) => /document/i.test(text))).toEqual([]);
    expect([...loop.store.rows("documents")]).toEqual([]);
    expect([...loop.store.rows("environments")].every(({ admitted, documentId }) => admitted && documentId === "none")).toBe(true);
  }, 120_000);

  test("an adaptive pool opens the next level of a mastered program, judges it once, and leaves others as they are", async () => {
    using loop = disposable(await run({ environments: { kind: "adaptiveFolder", path: pool, attempts: 2, width: 1 } }, false, 3));
    const played = [1, 2, 3].map((iteration) => [...new Set([...loop.store.rows("episodes", { iteration })].map(({ environmentId }) => environmentId))].sort());
    expect(played).toEqual([["fixed.py", "sum.py"], ["fixed.py", "sum.py@2"], ["fixed.py", "sum.py@3"]]);
    expect(loop.state().levels).toEqual({ "sum.py": { low: 4, high: 4, attempts: 0, wins: 0 } });
    const rows = [...loop.store.rows("environments")];
    expect(rows.map(({ iteration, id, admitted }) => [iteration, id, admitted])).toEqual([[0, "fixed.py", true], [0, "sum.py", true], [2, "sum.py@2", true], [3, "sum.py@3", true]]);
    expect(rows.at(-1)?.source).toContain("difficulty = 3");
    expect([...loop.store.rows("episodes")].every(({ arm }) => arm === "plain")).toBe(true);
    expect(loop.store.rows("segments").some(({ owner }) => owner !== "episode")).toBe(false);
  }, 240_000);

  test.each([false, true])("a level that stays is judged once (iterations sampled ahead: %s)", async (ahead) => {
    const forgetful: Script = { ...script(false), act: ({ last }, iteration) => `\\boxed{${sum(last) + Number(iteration > 1)}}` };
    using loop = disposable(await run({ environments: { kind: "adaptiveFolder", path: pool, attempts: 2, width: 1 } }, forgetful, 3, { ahead }));
    expect([...loop.store.rows("episodes", { iteration: 3 })].map(({ environmentId }) => environmentId)).toContain("sum.py@2");
    expect([...loop.store.rows("environments")].map(({ iteration, id }) => [iteration, id])).toEqual([[0, "fixed.py"], [0, "sum.py"], [2, "sum.py@2"]]);
  }, 240_000);

  test("a level that does not open again is not judged again", async () => {
    using loop = disposable(await run({ environments: { kind: "adaptiveFolder", path: pool, attempts: 2 } }, true, 2));
    expect(loop.state().levels?.["sum.py"]).toMatchObject({ low: 1, high: 1 });
    expect([...loop.store.rows("environments")].map(({ iteration }) => iteration)).toEqual([0, 0]);
  }, 240_000);
});

describe("every nano twin starts and runs an iteration", () => {
  const tiny = {
    run: { iterations: 1 },
    design: { tasksPerIteration: 2, activeSkills: 2, sampling: { maxTokens: 240, temperature: 0.3 }, hintSampling: { maxTokens: 16 } },
    play: { seedsPerEnvironment: 2, playsPerSeed: 2, hintPlaysPerSeed: 2, maxTurns: 2, sampling: { maxTokens: 24 } },
    curriculum: { replays: 0 },
    evaluation: { suites: [] },
  };
  const twins = Object.keys(presets).filter((name) => name.startsWith("nano-"));
  const changesOf = (name: string): object => {
    const { environments } = presets[name] ?? {};
    if (environments?.kind === "frozenPool") return { environments: { size: 1 } };
    return environments === undefined ? {} : { environments: { ...environments, path: pool } };
  };

  test.each(twins)("%s", async (name) => {
    const directory = join(root, "runs", name);
    const loaded = loadConfig(name, mergeInputs(tiny, changesOf(name)));
    await createRun({ directory, name, loaded, programVersion: "0", provenance: {}, listener: () => undefined, readVariable: () => undefined });
    using store = RunStore.openReadOnly(directory);
    expect(store.lastIteration()).toBe(1);
    const state = [...store.rows("curriculumStates", { iteration: 1 })][0]?.state as LoopState;
    const { environments, design, designer } = loaded.config;
    const designed = environments.kind === "selfplay" || environments.kind === "frozenPool";
    expect(store.rows("segments").some(({ owner }) => owner === "design")).toBe(designed);
    expect([...store.rows("documents")].length > 0).toBe(designed && design.documents);
    if (!designed) expect([...store.rows("episodes", { iteration: 1 })].length).toBeGreaterThan(0);
    if (environments.kind === "adaptiveFolder") expect(Object.keys(state.levels ?? {})).toEqual(["sum.py"]);
    if (designer.kind !== "trained") expect([...store.rows("advantages")].filter(({ role }) => role === "designer")).toEqual([]);
    expect(store.iterations().at(-1)?.timing).toHaveProperty("playMs");
  }, 240_000);
});

function disposable(loop: ScriptedLoop): ScriptedLoop & Disposable {
  return Object.assign(loop, { [Symbol.dispose]: () => loop.close() });
}
