import { afterAll, beforeAll, expect, test } from "vitest";
import type { Turn } from "../core/episode.ts";
import { fakeSandbox } from "./testing/fake-sandbox.ts";
import { type PlayedEpisode, replayEpisode } from "./replay.ts";
import type { ProgramHandle } from "../sandbox/sandbox.ts";

/** Counts up to three; the action `break` fails. */
const sandbox = fakeSandbox({
  environments: {
    count: () => {
      let place = 0;
      return {
        reset: (seed) => (seed === 13 ? { failure: "raise" } : `seed ${seed}`),
        step: (action) => (action === "break" ? { failure: "fuel" } : { observation: `at ${++place}`, reward: place / 3, terminated: place === 3, truncated: action === "cut" }),
      };
    },
  },
});
let handle: ProgramHandle;
beforeAll(async () => {
  const opened = await sandbox.open({ language: "python", source: "count" });
  if (!opened.ok) throw new Error("not opened");
  handle = opened.value;
});
afterAll(() => sandbox.close());

const turns: readonly Turn[] = [
  { observation: "seed 1", response: "", action: "go", reward: 1 / 3 },
  { observation: "at 1", response: "", action: "go", reward: 2 / 3 },
  { observation: "at 2", response: "", action: "go", reward: 1 },
];
const whole: PlayedEpisode = { seed: 1, turns, outcome: { kind: "terminated", reward: 1 } };
const differenceOf = async (episode: PlayedEpisode) => (await replayEpisode(handle, episode)).difference;
const withTurn = (i: number, change: Partial<Turn>): PlayedEpisode => ({ ...whole, turns: turns.map((turn, at) => (at === i ? { ...turn, ...change } : turn)) });

test("an episode that plays as recorded has no difference, and can be stopped at a turn", async () => {
  expect(await replayEpisode(handle, whole)).toMatchObject({ steps: 3, end: { observation: "at 3" } });
  expect(await replayEpisode(handle, whole, 1)).toMatchObject({ steps: 1, end: { observation: "at 1" } });
  const withoutAction: PlayedEpisode = { seed: 1, turns: [...turns.slice(0, 1), { observation: "at 1", response: "?", reward: 0 }], outcome: { kind: "truncated", reason: "action" } };
  expect(await replayEpisode(handle, withoutAction)).toMatchObject({ steps: 1, end: { observation: "at 1" } });
});

test("the first difference is named: turn, what, recorded, replayed", async () => {
  expect(await differenceOf({ ...whole, seed: 2 })).toEqual({ turn: 0, what: "observation", recorded: "seed 1", replayed: "seed 2" });
  expect(await differenceOf(withTurn(2, { observation: "at 9" }))).toEqual({ turn: 2, what: "observation", recorded: "at 9", replayed: "at 2" });
  expect(await differenceOf(withTurn(1, { reward: 0 }))).toEqual({ turn: 1, what: "reward", recorded: 0, replayed: 2 / 3 });
  expect(await differenceOf({ ...whole, outcome: { kind: "truncated", reason: "turns" } })).toEqual({ turn: 2, what: "terminated", recorded: false, replayed: true });
  expect(await differenceOf(withTurn(1, { action: "cut" }))).toEqual({ turn: 1, what: "truncated", recorded: false, replayed: true });
});

test("failures are part of the record", async () => {
  const fails: PlayedEpisode = { seed: 1, turns: [turns[0]!, { observation: "at 1", response: "", action: "break", reward: 0 }], outcome: { kind: "failed", boundary: "environment", code: "fuel" } };
  expect(await replayEpisode(handle, fails)).toEqual({ steps: 1 });
  expect(await differenceOf({ ...fails, outcome: { kind: "failed", boundary: "environment", code: "raise" } })).toEqual({ turn: 1, what: "failure", recorded: "raise", replayed: "fuel" });
  expect(await differenceOf({ ...whole, outcome: fails.outcome })).toEqual({ turn: 2, what: "failure", recorded: "fuel" });
  expect(await differenceOf(withTurn(0, { action: "break" }))).toEqual({ turn: 0, what: "failure", replayed: "fuel" });
  const atStart: PlayedEpisode = { seed: 13, turns: [], outcome: { kind: "failed", boundary: "environment", code: "raise" } };
  expect(await replayEpisode(handle, atStart)).toEqual({ steps: 0 });
  expect(await differenceOf({ ...atStart, seed: 1 })).toEqual({ turn: 0, what: "failure", recorded: "raise" });
});
