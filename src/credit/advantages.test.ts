import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Rng } from "../core/seed.ts";
import { computeAdvantages, designerWeight, integerOutcome } from "./advantages.ts";
import type { AgentCredit, Credit, DesignerCredit } from "./advantages.ts";

const options = { familyPenalty: 0 };
const group = (outcomes: readonly number[], values: readonly number[]): AgentCredit[] =>
  outcomes.map((outcome, i) => ({ role: "agent", id: `e${i}`, environmentId: "env", outcome, value: values[i] ?? outcome }));

/** T14 of the field reports: groups that other trainers got wrong. */
describe("T14", () => {
  test("a: shaped rewards give a group of equal outcomes no advantage", () => {
    const advantages = computeAdvantages(group([0, 0, 0, 0], [0.02, 0.05, 0.01, 0.04]), options);
    expect(advantages.map((item) => item.advantage)).toEqual([0, 0, 0, 0]);
    expect(advantages.some((item) => item.kept)).toBe(false);
  });

  test("b: the only loser of a group stays, with a negative advantage", () => {
    const values = [0, 0.95, 0.95, 0.95, 0.95, 0.95, 0.95, 0.95];
    const advantages = computeAdvantages(group([0, 1, 1, 1, 1, 1, 1, 1], values), options);
    expect(advantages.every((item) => item.kept)).toBe(true);
    expect(advantages[0]!.advantage).toBeLessThan(0);
    expect(advantages[1]!.advantage).toBeGreaterThan(0);
  });

  test("c: a float difference between equal outcomes does not keep a group", () => {
    expect(computeAdvantages(group([1, 1, 1], [1, 1, 1.000000001]), options).some((item) => item.kept)).toBe(false);
  });
});

test("integerOutcome agrees with the definition of a win", () => {
  expect([1, 0.51, 0.5, 0, -0.5, -0.51, -1].map(integerOutcome)).toEqual([1, 1, 0, 0, 0, -1, -1]);
});

const agentCredits = fc
  .array(fc.record({ environment: fc.nat(3), value: fc.constantFrom(-1, 0, 0.3, 1) }), { maxLength: 24 })
  .map((items) => items.map(({ environment, value }, i): AgentCredit => ({ role: "agent", id: `e${i}`, environmentId: `env${environment}`, outcome: integerOutcome(value), value })));
const reward = fc.double({ min: -1, max: 1, noNaN: true });
const designerCredits = fc
  .array(fc.record({ skill: fc.constantFrom("a", "b"), family: fc.constantFrom("x", "y", "z"), reward }), { maxLength: 12 })
  .map((items) => items.map((item, i): DesignerCredit => ({ role: "designer", id: `d${i}`, ...item })));

describe("properties", () => {
  const of = (role: string, credits: readonly Credit[]) => computeAdvantages(credits, { familyPenalty: 0.5 }).filter((item) => item.role === role);

  test("one role's rewards cannot move the other's advantages (invariant 3)", () => {
    fc.assert(
      fc.property(agentCredits, agentCredits, designerCredits, designerCredits, (agents, otherAgents, designers, otherDesigners) => {
        expect(of("agent", [...agents, ...designers])).toEqual(of("agent", [...agents, ...otherDesigners]));
        expect(of("designer", [...agents, ...designers])).toEqual(of("designer", [...otherAgents, ...designers]));
      }),
    );
  });

  test("the order of the credits changes no bit", () => {
    fc.assert(
      fc.property(agentCredits, designerCredits, fc.nat(), (agents, designers, seed) => {
        const credits = [...agents, ...designers];
        const byId = (items: readonly Credit[]) => new Map(computeAdvantages(items, { familyPenalty: 0.5 }).map((item) => [item.id, item]));
        const shuffled = byId(new Rng(seed).shuffle(credits));
        for (const [id, advantage] of byId(credits)) expect(shuffled.get(id)).toEqual(advantage);
      }),
    );
  });

  test("kept agent groups have mean 0 and deviation 1; groups of equal outcomes are dropped", () => {
    fc.assert(
      fc.property(agentCredits, (agents) => {
        const advantages = computeAdvantages(agents, options);
        for (const [, members] of Map.groupBy(agents.keys(), (i) => agents[i]!.environmentId)) {
          const equal = new Set(members.map((i) => agents[i]!.outcome)).size === 1;
          const values = members.map((i) => advantages[i]!.advantage);
          expect(members.every((i) => advantages[i]!.kept === !equal)).toBe(true);
          expect(values.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 9);
          expect(values.reduce((sum, value) => sum + value * value, 0)).toBeCloseTo(equal ? 0 : values.length, 9);
        }
      }),
    );
  });

  test("designer advantages sum to 0 within each skill and are not rescaled", () => {
    fc.assert(
      fc.property(designerCredits, (designers) => {
        const advantages = computeAdvantages(designers, options);
        for (const [, members] of Map.groupBy(designers.keys(), (i) => designers[i]!.skill)) {
          expect(members.reduce((sum, i) => sum + advantages[i]!.advantage, 0)).toBeCloseTo(0, 9);
          const [first, last] = [members[0]!, members.at(-1)!];
          expect(advantages[first]!.advantage - advantages[last]!.advantage).toBeCloseTo(designers[first]!.reward - designers[last]!.reward, 9);
        }
      }),
    );
  });
});

describe("family penalty", () => {
  const design = (id: string, family: string): DesignerCredit => ({ role: "designer", id, skill: "s", family, reward: 1 });

  test("makes a rare family better than a common one of equal reward", () => {
    const advantages = computeAdvantages([design("1", "x"), design("2", "x"), design("3", "x"), design("4", "y")], { familyPenalty: 1 });
    expect(advantages[3]!.advantage).toBeCloseTo(0.1875, 12);
    expect(advantages[0]!.advantage).toBeCloseTo(-0.0625, 12);
  });

  test("does nothing to equal shares", () => {
    expect(computeAdvantages([design("1", "x"), design("2", "y")], { familyPenalty: 1 }).map((item) => item.advantage)).toEqual([0, 0]);
  });
});

test("a non-finite reward or a fractional outcome is a broken invariant", () => {
  expect(() => computeAdvantages(group([0.5], [0.5]), options)).toThrow(/whole number/);
  expect(() => computeAdvantages(group([0, 1], [Number.NaN, 1]), options)).toThrow(/finite/);
  expect(() => computeAdvantages([{ role: "designer", id: "d", skill: "s", family: "f", reward: Number.NaN }], options)).toThrow(/finite/);
});

test("designers are up-weighted by their rarity, up to the cap", () => {
  expect(designerWeight({ agentRows: 128, designerRows: 24 }, { delay: 4, factor: 1, cap: 50 })).toBeCloseTo(21.333, 3);
  expect(designerWeight({ agentRows: 384, designerRows: 8 }, { delay: 4, factor: 1, cap: 50 })).toBe(50);
  expect(designerWeight({ agentRows: 384, designerRows: 0 }, { delay: 4, factor: 1, cap: 50 })).toBe(1);
  expect(designerWeight({ agentRows: 96, designerRows: 32 }, { delay: 1, factor: 4, cap: 50 })).toBe(12);
  expect(designerWeight({ agentRows: 96, designerRows: 32 }, { delay: 1, factor: 20, cap: 50 })).toBe(50);
  expect(designerWeight({ agentRows: 0, designerRows: 8 }, { delay: 4, factor: 1, cap: 50 })).toBe(1);
});
