import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { TrainableTrajectory } from "../core/trajectory.ts";
import { RunStore } from "../storage/run-store.ts";
import { measuredRates } from "./measured-rates.ts";

const root = mkdtempSync(join(tmpdir(), "spade-rates-"));
afterAll(() => rmSync(root, { recursive: true }));

const tokens = (length: number): Int32Array => new Int32Array(length);
/** Given and sampled tokens in turn. */
function trajectory(role: "agent" | "designer", ...lengths: readonly number[]): TrainableTrajectory {
  const segments = lengths.map((length, i) =>
    i % 2 === 0 ? { kind: i === 0 ? ("prompt" as const) : ("observation" as const), tokens: tokens(length) } : { kind: "sampled" as const, tokens: tokens(length), logprobs: new Float32Array(length), policyVersion: 0 },
  );
  return { role, arm: "plain", segments };
}

function record(name: string, timing: Readonly<Record<string, number>> | undefined): RunStore {
  const store = RunStore.create(join(root, name), { name, programVersion: "0", config: {}, configDigest: "", provenance: {} });
  store.beginIteration(0).commit({ policyVersion: 0 });
  const writer = store.beginIteration(1);
  const candidate = { taskId: "t", candidate: 0, skill: "s", documentId: "d", response: "" };
  writer.add("environments", { ...candidate, id: "a", admitted: true, hint: "h" }, { ...candidate, id: "b", admitted: true }, { ...candidate, id: "c", admitted: false }, { ...candidate, id: "e", admitted: false });
  for (const id of ["a", "b", "c", "e"]) writer.addTrajectory("design", id, trajectory("designer", 100, 50));
  for (const id of ["a", "b"]) writer.addTrajectory("hint", id, trajectory("designer", 40, 10));
  const outcome = { kind: "terminated", reward: 1 } as const;
  const episode = { environmentId: "a", arm: "plain", seed: 1, outcome, turns: [] } as const;
  writer.addEpisodes([{ ...episode, id: "1", play: 0, trajectory: trajectory("agent", 20, 5, 10, 5) }, { ...episode, id: "2", play: 1, trajectory: trajectory("agent", 20, 10) }]);
  writer.add("advantages", { role: "agent", subjectId: "1", advantage: 1, weight: 1, kept: true }, { role: "agent", subjectId: "2", advantage: 0, weight: 1, kept: false }, { role: "designer", subjectId: "a", advantage: 1, weight: 1, kept: true });
  writer.commit({ policyVersion: 1, ...(timing === undefined ? {} : { timing }) });
  return store;
}

test("shares, lengths and speeds are those of the record", () => {
  using store = disposable(record("timed", { designMs: 1500, hintsMs: 700, gatesMs: 8000, playMs: 2000, updateMs: 5000, checkpointMs: 300, totalMs: 18_000 }));
  const { bytesPerToken = 0, ...rates } = measuredRates(store);
  expect(bytesPerToken).toBeGreaterThan(0);
  expect(rates).toEqual({
    admittedShare: 0.5,
    hintShare: 0.5,
    keptShare: 0.5,
    designPromptTokens: 100,
    designTokens: 50,
    hintPromptTokens: 40,
    hintTokens: 10,
    episodePromptTokens: 25,
    // The first: 20 before its first turn, 35 before its second; the second: 20.
    episodeReadTokens: (20 + 35 + 20) / 2,
    episodeTokens: 10,
    designTokensPerSecond: 220 / 2.2,
    episodeTokensPerSecond: 10,
    trainedTokensPerSecond: (40 + 150) / 5,
    gateSecondsPerCandidate: 2,
    otherSecondsPerIteration: expect.closeTo(18 - 17.2) as number,
  });
});

test("a run whose stages were not timed says nothing of speeds", () => {
  using store = disposable(record("untimed", { totalMs: 18_000 }));
  const rates = measuredRates(store);
  expect(rates.designTokens).toBe(50);
  expect(Object.keys(rates).filter((name) => /Second/.test(name))).toEqual([]);
});

function disposable(store: RunStore): RunStore & Disposable {
  return Object.assign(store, { [Symbol.dispose]: () => store.close() });
}
