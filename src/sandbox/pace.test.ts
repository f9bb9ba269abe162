import { expect, test } from "vitest";
import { callPatienceMs, defaultLimits, loadPatienceMs, maxSlowFailures, slowCallShare } from "./limits.ts";
import { Pace, unknownPace } from "./pace.ts";
import type { GuestFailureCode } from "./sandbox.ts";

test("patience grows with what a program is known to need, over all its openings", () => {
  const known = unknownPace();
  const first = new Pace(defaultLimits, known);
  expect([first.patienceMs("load"), first.patienceMs("call")]).toEqual([loadPatienceMs, callPatienceMs]);
  first.called(4 * callPatienceMs);
  first.called(1);
  first.loaded(loadPatienceMs);
  const second = new Pace(defaultLimits, known);
  expect([second.patienceMs("load"), second.patienceMs("call")]).toEqual([2 * loadPatienceMs, 8 * callPatienceMs]);
  expect(second.isSlow).toBe(false);
});

test("a slow call, or one ended from outside, makes a program slow for good", () => {
  const [slow, stopped] = [unknownPace(), unknownPace()];
  new Pace(defaultLimits, slow).called(slowCallShare * defaultLimits.wallMsPerCall + 1);
  expect(new Pace(defaultLimits, stopped).failed({ code: "memory", message: "" })).toBeUndefined();
  expect([slow, stopped].map((known) => new Pace(defaultLimits, known).isSlow)).toEqual([true, true]);
});

test("a program that raises at once is no slow one, one that raises late or breaks the rules is", () => {
  const isSlowAfter = (code: GuestFailureCode, wallMs: number): boolean => {
    const pace = new Pace(defaultLimits, unknownPace());
    pace.refused({ code, message: "" }, wallMs);
    return pace.isSlow;
  };
  expect([isSlowAfter("raise", 1), isSlowAfter("raise", callPatienceMs + 1), isSlowAfter("output", 1), isSlowAfter("exit", 1)]).toEqual([false, true, true, true]);
});

test("failures are counted for each opening anew: answers do not depend on earlier ones", () => {
  const known = unknownPace();
  for (let opening = 0; opening < 2; opening++) {
    const pace = new Pace(defaultLimits, known);
    for (let i = 1; i < maxSlowFailures; i++) expect(pace.failed({ code: "fuel", message: "spent" })).toBeUndefined();
    expect(pace.failed({ code: "raise", message: "deep" })).toBeUndefined();
    expect(pace.failed({ code: "timeout", message: "late" })).toMatchObject({ code: "timeout", message: expect.stringContaining("not run again") as string });
  }
});
