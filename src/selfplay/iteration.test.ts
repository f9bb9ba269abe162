import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { embeddedRenderer, type Renderer } from "../chat/renderer.ts";
import { Rng } from "../core/seed.ts";
import type { SampleRequest, TrainingRow } from "../policy/policy.ts";
import { byteTokenizer } from "../policy/testing/byte-tokenizer.ts";
import { addition, goodPrograms, oneTurn } from "../gates/testing/programs.ts";
import { readIterationRows } from "../report/run-rows.ts";
import { openSandbox } from "../sandbox/pool.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { scriptedLoop, type Script, type ScriptedLoop, type ScriptedLoopOptions, written } from "./testing/scripted-loop.ts";

let sandbox: Sandbox;
let loop: ScriptedLoop;
beforeAll(async () => {
  sandbox = await openSandbox({ lanes: 1 });
}, 120_000);
afterEach(() => loop.close());
afterAll(() => sandbox.close());

const choice = goodPrograms["choice"] ?? "";
/** Two designs of one skill, so that the designer's advantages are not all zero. */
const oneSkill = { tasksPerIteration: 2, activeSkills: 1, sampling: { maxTokens: 2000 } };

/** Adds where it can; wins a sum on even request seeds, always with a hint; picks the first choice otherwise. */
const script: Script = {
  design: ({ seed }) => written(seed % 2 === 0 ? oneTurn({ reset: addition }) : choice),
  hint: () => "Add both numbers of pieces with care.",
  act: ({ last, seed }) => {
    const numbers = last.match(/\d\d/g)?.map(Number) ?? [];
    const sum = (numbers[0] ?? 0) + (numbers[1] ?? 0);
    return `I add: \\boxed{${last.startsWith("hint:") || seed % 2 === 0 ? sum : sum + 1}}`;
  },
};

async function start(parts: Partial<Script> = {}, changes: object = {}, options: ScriptedLoopOptions = {}): Promise<ScriptedLoop> {
  loop = await scriptedLoop(sandbox, { ...script, ...parts }, { design: oneSkill, ...changes }, options);
  return loop;
}

const textOf = (tokens: Int32Array): string => byteTokenizer.decode(tokens);
const rowsOf = (rows: readonly TrainingRow[] | undefined, role: string): TrainingRow[] => (rows ?? []).filter((row) => row.trajectory.role === role);
const promptText = ({ trajectory }: TrainingRow): string => textOf(trajectory.segments[0]?.tokens ?? new Int32Array());

/** Designs only sums, so that every environment has wins and losses. */
const sums = { design: () => written(oneTurn({ reset: addition })) };

test("invariant 5: both arms play one list of seeds and differ only in the hint", async () => {
  const { episodes } = await (await start(sums)).next();
  const seedsOf = (arm: string, id: string): number[] => episodes.filter((episode) => episode.arm === arm && episode.environmentId === id).map(({ seed }) => seed);
  const ids = [...new Set(episodes.map(({ environmentId }) => environmentId))];
  expect(ids).toHaveLength(2);
  for (const id of ids) {
    expect(seedsOf("hint", id)).toEqual(seedsOf("plain", id));
    expect(new Set(seedsOf("plain", id)).size).toBe(2);
  }
  const first = (arm: string): string[] => episodes.filter((episode) => episode.arm === arm).map(({ trajectory }) => textOf(trajectory.segments[0]?.tokens ?? new Int32Array()));
  expect(first("hint").map((text) => text.replace("hint: Add both numbers of pieces with care.\n", ""))).toEqual(first("plain"));
});

test("invariant 7: no hint ever reaches the trainer, and every kept plain row does", async () => {
  const { episodes } = await (await start(sums)).next();
  const batch = loop.trainer.batches[0] ?? [];
  const agents = rowsOf(batch, "agent");
  expect(agents.length).toBeGreaterThan(0);
  expect(batch.map(({ trajectory }): string => trajectory.arm).filter((arm) => arm !== "plain")).toEqual([]);
  expect(batch.filter((row) => promptText(row).includes("hint:"))).toEqual([]);
  const plain = episodes.filter(({ arm }) => arm === "plain").map(({ trajectory }) => trajectory.segments);
  for (const { trajectory } of agents) expect(plain).toContainEqual(trajectory.segments);
});

test("the designer is paid at the end of its window, for what it sampled at its beginning", async () => {
  await start({}, { design: { ...oneSkill, regenerateEvery: 2 } });
  const first = await loop.next();
  expect(first.paid).toEqual([]);
  expect(rowsOf(loop.trainer.batches[0], "designer")).toEqual([]);
  const requested = loop.requests.length;
  const second = await loop.next();
  expect(loop.requests.slice(requested).every(({ prompt }) => !textOf(prompt).includes("designer")), "the second iteration designs nothing").toBe(true);
  expect(second.paid.map(({ id }) => id)).toEqual(first.window.environments.map(({ environment }) => environment.id));
  expect([...loop.store.rows("rewards")].map(({ iteration, role }) => [iteration, role])).toEqual(second.paid.map(() => [2, "designer"]));
  for (const { trajectory } of second.paid) {
    const sampled = trajectory.segments.find((segment) => segment.kind === "sampled");
    expect(sampled).toMatchObject({ policyVersion: 0 });
    expect(textOf(sampled?.tokens ?? new Int32Array())).toContain("class Bakery");
  }
});

test("gate novelty compares with the environments of earlier iterations", async () => {
  await start(sums, { gates: { novelty: { enabled: true } } });
  const first = await loop.next();
  const ids = first.window.environments.map(({ environment }) => environment.id);
  expect(ids).toHaveLength(2);
  const second = await loop.next();
  const rejected = [...loop.store.rows("gateResults", { iteration: 2 })].filter(({ passed }) => !passed);
  expect(rejected.map(({ gate, code }) => [gate, code])).toEqual([["novelty", "near"], ["novelty", "near"]]);
  for (const { evidence } of rejected) expect(ids).toContain((evidence as { nearest: { id: string } }).nearest.id);
  expect(second.window.environments.every(({ origin }) => origin === "replayed"), "the archive is replayed instead").toBe(true);
});

describe("a designer that writes only rubbish", () => {
  test("ends the iteration with zero admitted, recorded, and the run goes on", async () => {
    await start({ design: (prompt, iteration) => (iteration === 1 ? "I cannot." : script.design(prompt, iteration)) });
    const first = await loop.next();
    expect([first.episodes, first.updates, loop.trainer.batches]).toEqual([[], [], []]);
    expect(first.paid.map(({ id, reward }) => [id, reward.reward])).toEqual([["1.0.0", -0.1], ["1.1.0", -0.1]]);
    expect([...loop.store.rows("events")]).toMatchObject([{ iteration: 1, kind: "nothing-admitted", data: { candidates: 2 } }]);
    expect([...loop.store.rows("gateResults")].map(({ gate, passed }) => [gate, passed])).toEqual([["extract", false], ["extract", false]]);
    expect((await loop.next()).window.environments).toHaveLength(2);
  });

  test("replays environments of the archive, without paying for them again or making them young", async () => {
    await start({ design: (prompt, iteration) => (iteration === 2 ? "I cannot." : script.design(prompt, iteration)) });
    const first = await loop.next();
    const ids = first.window.environments.map(({ environment }) => environment.id).sort();
    const second = await loop.next();
    const [event, replayed] = [...loop.store.rows("events", { iteration: 2 })];
    expect(event).toMatchObject({ kind: "nothing-admitted", data: { candidates: 2 } });
    expect([...(replayed?.data as { environmentIds: string[] }).environmentIds].sort()).toEqual(ids);
    expect([...new Set(second.episodes.map(({ environmentId }) => environmentId))].sort()).toEqual(ids);
    expect(second.paid.filter(({ id }) => ids.includes(id))).toEqual([]);
    expect(loop.state().curriculum.archive.map(({ iteration, lastPlayed }) => [iteration, lastPlayed])).toEqual([[1, 2], [1, 2]]);
  });
});

test("environments replayed beside new ones are played plain only, train the agent, keep their regret, and count in no metric", async () => {
  await start(sums, { curriculum: { replays: 1 } });
  await loop.next();
  const regrets = loop.state().curriculum.archive.map(({ id, regret }) => [id, regret]);
  const second = await loop.next();
  const [replayed] = second.window.environments.filter(({ origin }) => origin === "replayed").map(({ environment }) => environment.id);
  expect(second.window.environments).toHaveLength(3);
  expect(replayed).toMatch(/^1\./);
  const own = second.episodes.filter(({ environmentId }) => environmentId === replayed);
  expect(own.map(({ arm }) => arm)).toEqual(own.map(() => "plain"));
  expect([...loop.store.rows("advantages", { iteration: 2 })].filter(({ role, subjectId, kept }) => role === "agent" && kept && own.some(({ id }) => id === subjectId)).length).toBeGreaterThan(0);
  expect(second.paid.map(({ id }) => id)).not.toContain(replayed);
  expect(loop.state().curriculum.archive.filter(({ iteration }) => iteration === 1).map(({ id, regret }) => [id, regret])).toEqual(regrets);
  const rows = readIterationRows(loop.store, 2);
  expect(rows.environments.map(({ id }) => id)).not.toContain(replayed);
  expect(rows.episodes).toHaveLength(second.episodes.length - own.length);
});

test("an episode that renders otherwise than it was recorded stops the run before anything is trained", async () => {
  const honest = embeddedRenderer(byteTokenizer);
  let conversations = 0;
  // A template that is no function of its messages, as one with the time of day would be.
  const drifting: Renderer = { ...honest, begin: (opening) => honest.begin({ ...opening, user: `${opening.user} at ${conversations++}` }) };
  await start(sums, { play: { contextLength: 4096, sampling: { maxTokens: 200 }, renderCheckShare: 1 } }, { renderer: drifting });
  await expect(loop.next()).rejects.toMatchObject({ code: "chat.replay", details: { turn: 0, segment: 0 } });
  expect(loop.trainer.batches).toEqual([]);
});

test("full prompts tell a second attempt which gate refused the first, and why; they reach every voice", async () => {
  const seen: string[] = [];
  const design: Script["design"] = ({ last }) => {
    seen.push(last);
    return last.includes("was refused") ? written(oneTurn({ reset: addition })) : "I would rather not.";
  };
  await start({ design }, { prompts: "full", design: { ...oneSkill, maxAttempts: 2 } });
  const { episodes } = await loop.next();
  expect(seen.map((prompt) => prompt.includes("was refused"))).toEqual([false, false, true, true]);
  expect(seen[2]).toMatch(/The test "extract" refused .*\(no-block\): The reply holds no python code block/);
  expect(new Set(episodes.map(({ trajectory }) => textOf(trajectory.segments[0]?.tokens ?? new Int32Array()).slice(0, 7)))).toEqual(new Set(["You act"]));
  expect(episodes.some(({ arm }) => arm === "hint")).toBe(true);
});

describe("a concurrent policy", () => {
  const mutants = { gates: { mutants: { rate: 1 } }, curriculum: { replays: 1 } };
  const textOfPrompt = ({ prompt }: SampleRequest): string => textOf(prompt);

  test("gives the record of a policy that is asked in batches, whatever is answered first", async () => {
    await start(sums, mutants);
    for (let i = 0; i < 2; i++) await loop.next();
    const batched = loop.store.digest();
    expect([...loop.store.rows("events")].map(({ kind }) => kind)).toEqual(expect.arrayContaining(["replayed", "mutant"]));
    loop.close();
    const rng = new Rng(3);
    await start(sums, mutants, { delay: () => sleep(rng.int(0, 12)) });
    for (let i = 0; i < 2; i++) await loop.next();
    expect(loop.store.digest()).toBe(batched);
  });

  test("plays a design while another is still being written", async () => {
    const slow = Promise.withResolvers<undefined>();
    let designs = 0;
    const delay = async (request: SampleRequest): Promise<void> => {
      if (textOfPrompt(request).includes("designer") && designs++ === 0) await slow.promise;
      // The slow design is written when an episode of the other one is under way.
      if (request.session !== undefined) slow.resolve(undefined);
    };
    const { episodes } = await (await start(sums, {}, { delay })).next();
    expect(new Set(episodes.map(({ environmentId }) => environmentId))).toEqual(new Set(["1.0.0", "1.1.0"]));
    expect(episodes[0]?.environmentId).toBe("1.0.0");
  });

  test("names the episode in each of its requests, and nothing in the designer's", async () => {
    const { episodes } = await (await start(sums, {}, { delay: () => Promise.resolve() })).next();
    expect(new Set(loop.requests.flatMap(({ session }) => session ?? []))).toEqual(new Set(episodes.map(({ id }) => id)));
    expect(loop.requests.filter((request) => request.session === undefined)).toHaveLength(4);
  });
});
