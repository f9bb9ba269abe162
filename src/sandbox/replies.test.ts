import { expect, test } from "vitest";
import { withinLimit } from "./replies.ts";

const codeOf = (observation: string): string => {
  const result = withinLimit({ ok: true, value: { observation } }, 10);
  return result.ok ? "ok" : result.failure.code;
};

test("the parent counts characters itself: code points, as Python does", () => {
  expect(["x".repeat(10), "x".repeat(11), "\u{1F600}".repeat(10), "\u{1F600}".repeat(11)].map(codeOf)).toEqual(["ok", "output", "ok", "output"]);
  expect(withinLimit({ ok: true, value: null }, 10)).toEqual({ ok: true, value: null });
});
