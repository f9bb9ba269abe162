import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Program } from "../src/core/environment.ts";
import { extractProgram } from "../src/designer/extract.ts";
import type { ObservedSandbox } from "../src/sandbox/pool.ts";
import type { GuestFailure, ProgramHandle } from "../src/sandbox/sandbox.ts";
import { openTestSandbox } from "../src/sandbox/test-sandbox.ts";

/** What becomes of a program: it loads and plays, or it fails at one call with a code and a message. */
interface Expected {
  readonly loads: boolean;
  readonly entry?: string;
  readonly maxTurns?: number;
  /** Absent: `solution()` wins by replay. */
  readonly solves?: false;
  readonly at?: string;
  readonly code?: string;
  readonly message?: string;
}

const directory = join(import.meta.dirname, "..", "environments", "foreign");
const { programs } = JSON.parse(readFileSync(join(directory, "manifest.json"), "utf8")) as { programs: { file: string; about: string; expect: Expected }[] };

let sandbox: ObservedSandbox;
beforeAll(async () => {
  sandbox = await openTestSandbox();
}, 180_000);
afterAll(() => sandbox.close());

/** Programs in a reply (`.md`) are extracted as a designer's are. */
function read(file: string): Program {
  const text = readFileSync(join(directory, file), "utf8");
  if (file.endsWith(".py")) return { language: "python", source: text };
  const extraction = extractProgram(text);
  if (!extraction.ok) throw new Error(`${file}: ${extraction.message}`);
  return extraction.program;
}

interface Outcome {
  readonly handle?: ProgramHandle;
  readonly failure?: GuestFailure & { readonly at: string };
  /** Per seed: first observation, and the last reward of the replayed solution. */
  readonly plays: readonly { readonly observation: string; readonly reward: number | undefined }[];
}

/** Loads a program and, on each seed, replays its solution; a program without one is stepped once. */
async function play(program: Program, seeds: readonly number[]): Promise<Outcome> {
  const opened = await sandbox.open(program);
  if (!opened.ok) return { failure: { ...opened.failure, at: "load" }, plays: [] };
  const handle = opened.value;
  const plays: { observation: string; reward: number | undefined }[] = [];
  for (const seed of seeds) {
    const [created] = await handle.create([seed]);
    if (created?.ok !== true) return { handle, failure: { ...(created?.failure ?? { code: "protocol", message: "" }), at: "create" }, plays };
    const { instance, observation } = created.value;
    const [solution] = handle.facts.hasSolution ? await handle.solution([instance]) : [];
    let reward: number | undefined;
    for (const action of solution?.ok === true ? solution.value : ["hello"]) {
      const [step] = await handle.step([{ instance, action }]);
      if (step?.ok !== true) return { handle, failure: { ...(step?.failure ?? { code: "protocol", message: "" }), at: "step" }, plays };
      reward = step.value.terminated ? step.value.reward : undefined;
    }
    plays.push({ observation, reward });
    await handle.release([instance]);
  }
  return { handle, plays };
}

describe("foreign programs", () => {
  it("are at least forty, most of them playable", () => {
    expect(programs.length).toBeGreaterThanOrEqual(40);
    expect(programs.filter(({ expect: expected }) => expected.loads).length).toBeGreaterThanOrEqual(30);
  });

  it.each(programs)("$file: $about", async ({ file, expect: expected }) => {
    const { handle, failure, plays } = await play(read(file), [0, 1, 2, 3, 0]);
    if (!expected.loads) {
      expect(failure).toMatchObject({ at: expected.at, code: expected.code });
      expect(failure?.message).toContain(expected.message);
    } else {
      expect(failure).toBeUndefined();
      expect(handle?.facts.entry).toBe(expected.entry);
      expect(handle?.facts.maxTurns).toBe(expected.maxTurns);
      expect(plays[4], "seed 0 twice").toEqual(plays[0]);
      expect(plays.map(({ reward }) => reward)).toEqual(plays.map(() => (expected.solves === false ? 0 : 1)));
      expect(new Set(plays.map(({ observation }) => observation)).size, "observations").toBeGreaterThan(1);
    }
    await handle?.close();
  });
});
