import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { actionIn } from "../chat/action.ts";
import { embeddedRenderer } from "../chat/renderer.ts";
import { compactPrompts } from "../designer/prompts.ts";
import { scriptedPolicy } from "../policy/scripted.ts";
import { byteTokenizer } from "../policy/testing/byte-tokenizer.ts";
import type { Dialogue } from "../rollout/episode.ts";
import { type FakeEnvironment, fakeSandbox } from "../rollout/testing/fake-sandbox.ts";
import { difference, evaluate, type Evaluation } from "./evaluate.ts";
import { wilson } from "../credit/statistics.ts";
import { bootstrap } from "./intervals.ts";
import { loadSuite, type Suite } from "./suite.ts";

const heldout = join(import.meta.dirname, "../../environments/heldout");
const dialogue: Dialogue = { renderer: embeddedRenderer(byteTokenizer), prompt: compactPrompts.play, parseAction: actionIn };

const environments: Record<string, () => FakeEnvironment> = {
  /** Asks for the seed. */
  repeat: () => {
    let key = 0;
    return {
      reset: (seed) => `say ${(key = seed)}`,
      step: (action) => ({ reward: action === String(key) ? 1 : 0, terminated: true }),
    };
  },
  hard: () => ({ reset: () => "say nothing", step: () => ({ reward: 0, terminated: true }) }),
  broken: () => ({ reset: () => "x", step: () => ({ failure: "raise" }) }),
};

const suite: Suite = {
  name: "small",
  version: 1,
  digest: "d",
  programs: ["repeat", "hard", "broken"].map((source, i) => ({
    file: `${source}.py`,
    skill: i === 2 ? "B" : "A",
    level: i + 1,
    title: source,
    program: { language: "python", source },
  })),
};

function run(respond: (last: string, seed: number) => string, greedy = false): Promise<Evaluation> {
  const policy = scriptedPolicy({ tokenizer: byteTokenizer, respond: ({ last, seed }) => respond(last, seed) });
  const sampling = { temperature: 1, topP: 1, topK: 0, maxTokens: 50 };
  return evaluate({ suite, policy, sandbox: fakeSandbox({ environments }), dialogue, seeds: [1, 2, 3, 4], plays: 5, sampling, greedy, maxTurns: 3 });
}

const skilled = (last: string): string => `\\boxed{${/\d+/.exec(last)?.[0] ?? ""}}`;

describe("evaluate", () => {
  it("scores programs, skills and the whole; failures have no return", async () => {
    const result = await run(skilled);
    expect(result.programs.map(({ file, winRate, episodes, wins, failed }) => [file, winRate, episodes, wins, failed])).toEqual([
      ["repeat.py", 1, 20, 20, 0],
      ["hard.py", 0, 20, 0, 0],
      ["broken.py", undefined, 0, 0, 20],
    ]);
    expect(result.skills.map(({ skill, winRate }) => [skill, winRate])).toEqual([["A", 0.5], ["B", undefined]]);
    expect(result.overall).toMatchObject({ winRate: 0.5, interval: [0, 1], episodes: 40, failed: 20 });
  });

  it("plays once per seed when greedy, and repeats itself", async () => {
    expect(await run(skilled, true)).toEqual(await run(skilled, true));
    expect((await run(skilled, true)).programs[0]?.episodes).toBe(4);
  });

  it("compares two evaluations, and refuses to compare unlike ones", async () => {
    const before = await run((last, seed) => (seed % 4 === 0 ? skilled(last) : "\\boxed{no}"));
    const after = await run(skilled);
    const change = difference(before, after);
    expect(change.difference).toBeCloseTo((after.overall.winRate ?? 0) - (before.overall.winRate ?? 0), 12);
    expect(change.interval[0]).toBeGreaterThanOrEqual(0);
    expect(() => difference(before, { ...after, mode: "greedy" })).toThrow("cannot be compared");
  });
});

describe("intervals", () => {
  it("Wilson agrees with published values", () => {
    expect(wilson(0, 10)).toEqual([0, expect.closeTo(0.2775, 4)]);
    expect(wilson(5, 10)).toEqual([expect.closeTo(0.2366, 4), expect.closeTo(0.7634, 4)]);
  });

  it("the bootstrap covers the spread of programs", () => {
    const [low, high] = bootstrap([[1, 1], [0, 0], [1, 1], [0, 0]], 1);
    expect(low).toBe(0);
    expect(high).toBe(1);
    expect(bootstrap([[0.5, 0.5]], 1)).toEqual([0.5, 0.5]);
  });
});

describe("loadSuite", () => {
  const directories: string[] = [];
  afterAll(() => Promise.all(directories.map((directory) => rm(directory, { recursive: true }))));

  it("reads the held-out battery: at least three programs for each of six skills", async () => {
    const { programs } = await loadSuite(heldout);
    const skills = new Map<string, number>();
    for (const { skill } of programs) skills.set(skill, (skills.get(skill) ?? 0) + 1);
    expect(skills.size).toBe(6);
    expect(Math.min(...skills.values())).toBeGreaterThanOrEqual(3);
  });

  it.each([
    ["{", "is not JSON"],
    ['{"suite":"x","version":1,"programs":[]}', "malformed"],
    ['{"suite":"x","version":1,"programs":[{"file":"../a.py","skill":"s","level":1,"title":"t"}]}', "malformed"],
    ['{"suite":"x","version":1,"programs":[{"file":"a.py","skill":"s","level":1,"title":"t"}]}', "cannot be read"],
  ])("names the file and the fault: %s", async (manifest, message) => {
    const directory = await mkdtemp(join(tmpdir(), "suite-"));
    directories.push(directory);
    await writeFile(join(directory, "manifest.json"), manifest);
    await expect(loadSuite(directory)).rejects.toThrow(new RegExp(`${directory}.*${message}`, "s"));
  });
});
