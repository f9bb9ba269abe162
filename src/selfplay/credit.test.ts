import fc from "fast-check";
import { expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import type { Episode } from "../core/episode.ts";
import type { Arm } from "../core/role.ts";
import type { Segment, TrainableTrajectory } from "../core/trajectory.ts";
import { batchRows, creditRows, type PaidDesign } from "./credit.ts";

const { config } = loadConfig("smoke");

function episode(id: string, reward: number, arm: Arm = "plain"): Episode {
  const trajectory = { role: "agent", arm, segments: [] } as const;
  return { id, environmentId: `e${id.length % 2}`, arm, seed: 0, play: 0, trajectory, turns: [], outcome: { kind: "terminated", reward } };
}

function design(id: string, reward: number): PaidDesign {
  const trajectory: TrainableTrajectory = { role: "designer", arm: "plain", segments: [] };
  return { id, skill: "s", family: id, trajectory, reward: { reward, components: {} } };
}

const reward = fc.constantFrom(-1, 0, 0.3, 1);
const episodes = fc.array(reward, { maxLength: 8 }).map((rewards) => rewards.map((value, i) => episode("x".repeat(i + 1), value)));
const designs = fc.array(reward, { maxLength: 5 }).map((rewards) => rewards.map((value, i) => design(`d${i}`, value)));
const advantagesOf = (played: readonly Episode[], paid: readonly PaidDesign[], role: string): unknown =>
  creditRows(played, paid, config).filter(({ advantage }) => advantage.role === role).map(({ advantage }) => advantage);

test("invariant 3: one role's rewards do not move the other's advantages", () => {
  fc.assert(
    fc.property(episodes, episodes, designs, designs, (played, otherPlayed, paid, otherPaid) => {
      expect(advantagesOf(played, paid, "agent")).toEqual(advantagesOf(played, otherPaid, "agent"));
      expect(advantagesOf(played, paid, "designer")).toEqual(advantagesOf(otherPlayed, paid, "designer"));
    }),
  );
});

test("invariant 7: hint-arm episodes give no rows and move no advantage", () => {
  fc.assert(
    fc.property(episodes, designs, fc.array(reward, { maxLength: 4 }), (played, paid, rewards) => {
      const hinted = rewards.map((value, i) => episode(`hint${"y".repeat(i)}`, value, "hint"));
      expect(creditRows([...hinted, ...played], paid, config)).toEqual(creditRows(played, paid, config));
    }),
  );
});

test("T13: each row of a rewritten trajectory enters the batch with its episode's advantage; one without a sample does not", () => {
  const context = (kind: "prompt" | "observation", id: number): Segment => ({ kind, tokens: Int32Array.of(id) });
  const sampled = (id: number): Segment => ({ kind: "sampled", tokens: Int32Array.of(id, id), logprobs: Float32Array.of(-1, -1), policyVersion: 0 });
  const won = episode("x", 1);
  const segments = [context("prompt", 1), sampled(2), context("observation", 3), sampled(4), context("prompt", 5), sampled(6), context("prompt", 7)];
  const unsampled = { ...episode("xxx", 0), trajectory: { ...won.trajectory, segments: [context("prompt", 8)] } };
  const rows = batchRows(creditRows([{ ...won, trajectory: { ...won.trajectory, segments } }, unsampled], [], config));
  expect(rows.map(({ trajectory, advantage, weight }) => [trajectory.segments, advantage, weight])).toEqual([
    [segments.slice(0, 4), rows[0]!.advantage, 1],
    [segments.slice(4, 6), rows[0]!.advantage, 1],
  ]);
  expect(rows[0]!.advantage).toBeGreaterThan(0);
});

test("what was sampled as text is refused, not left out", () => {
  expect(() => batchRows(creditRows([episode("x", 1), episode("xxx", 0)], [], config))).toThrow(/gives text without token ids.*policy\.kind "tinker" or "embedded"/);
});

test("rows without signal are recorded but do not enter the batch", () => {
  const rows = creditRows([episode("x", 1), episode("xxx", 1)], [design("d0", 0.2)], config);
  expect(rows.map(({ advantage }) => [advantage.role, advantage.kept, advantage.advantage])).toEqual([["agent", false, 0], ["agent", false, 0], ["designer", true, 0]]);
  expect(batchRows(rows)).toEqual([]);
});
