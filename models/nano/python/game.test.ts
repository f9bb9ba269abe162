import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Rng } from "../../../src/core/seed.ts";
import { openSandbox } from "../../../src/sandbox/pool.ts";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { syntheticDocument } from "../synthetic-documents.ts";
import { families, sampleGame } from "../families/index.ts";
import { Game, same } from "./game.ts";
import { PythonRandom } from "./random.ts";

describe("PythonRandom", () => {
  it("draws what CPython draws", () => {
    const random = new PythonRandom(2);
    expect([random.randint(2, 9), random.randint(2, 9)]).toEqual([2, 3]);
    expect(random.sample(Array.from({ length: 38 }, (_, i) => i + 2), 3)).toEqual([7, 25, 12]);
    const names = ["a", "b", "c"];
    random.shuffle(names);
    expect(names).toEqual(["a", "b", "c"]);
  });
});

describe("same", () => {
  it.each([["7", 7, true], [" 07 ", 7, true], ["", 0, false], ["Pump", "pump", true], ["3, 4", [3, 4], true], ["3 4 5", [3, 4], false]] as const)("%j against %j is %s", (action, answer, expected) => {
    expect(same(action, answer)).toBe(expected);
  });
});

describe("Game against the sandbox", () => {
  let sandbox: Sandbox;
  beforeAll(async () => (sandbox = await openSandbox({ lanes: 1 })));
  afterAll(() => sandbox.close());

  it.each(families.map(({ name }) => name))("%s: observations, solution and ends are equal", async (family) => {
    const rng = new Rng(11);
    for (let i = 0; i < 3; i++) {
      const { program, game } = sampleGame(rng, syntheticDocument(rng), { family });
      const opened = await sandbox.open({ language: "python", source: program.source });
      if (!opened.ok) throw new Error(`${opened.failure.message}\n${program.source}`);
      await expectEqualPlay(game, opened.value, [0, 1, rng.int(2, 1_000_000)]);
      await opened.value.close();
    }
  });

  async function expectEqualPlay(game: Game, handle: Extract<Awaited<ReturnType<Sandbox["open"]>>, { ok: true }>["value"], seeds: readonly number[]): Promise<void> {
    for (const [i, created] of (await handle.create(seeds)).entries()) {
      if (!created.ok) throw new Error(created.failure.message);
      const { instance, observation } = created.value;
      expect(game.reset(seeds[i] ?? 0)).toBe(observation);
      const [solution] = await handle.solution([instance]);
      expect(solution).toEqual({ ok: true, value: game.solution() });
      for (const action of ["hm", ...game.solution()]) {
        const mine = game.step(action);
        const [step] = await handle.step([{ instance, action }]);
        if (step?.ok !== true) throw new Error(step?.failure.message);
        const ended = step.value.terminated || step.value.truncated;
        expect([mine.ended, mine.won]).toEqual([ended, step.value.reward > 0.5]);
        if (ended) break;
        expect(mine.observation).toBe(step.value.observation);
      }
    }
  }
});
