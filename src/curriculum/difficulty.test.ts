import { describe, expect, test } from "vitest";
import { afterProblems, atDifficulty, declaredDifficulty, firstRange } from "./difficulty.ts";

describe("the sliding window: accuracy 0.9, 8 attempts, width 4", () => {
  const rule = { accuracy: 0.9, attempts: 8, width: 4 };
  const mastered = Array.from({ length: 8 }, () => 1);

  test("opens the next level after 8 problems at 0.9 or above, counting over several iterations", () => {
    const begun = afterProblems(firstRange(1), [1, 1, 1, 1, 0.2], rule);
    expect(begun).toEqual({ low: 1, high: 1, attempts: 5, wins: 4.2 });
    expect(afterProblems(begun, [1, 1, 1], rule)).toEqual({ low: 1, high: 2, attempts: 0, wins: 0 });
  });

  test("begins to count anew when 8 problems were not enough", () => {
    expect(afterProblems(firstRange(1), [1, 1, 1, 1, 1, 1, 1, 0.1], rule)).toEqual(firstRange(1));
  });

  test("holds at most 4 levels, the highest ones", () => {
    const ranges = [firstRange(1)];
    for (let i = 0; i < 5; i++) ranges.push(afterProblems(ranges[i] ?? firstRange(1), mastered, rule));
    expect(ranges.map(({ low, high }) => [low, high])).toEqual([[1, 1], [1, 2], [1, 3], [1, 4], [2, 5], [3, 6]]);
  });

  test("without a completed play nothing moves", () => {
    expect(afterProblems(firstRange(3), [], rule)).toEqual(firstRange(3));
  });
});

test("a program takes a difficulty when it declares one on a line of its own", () => {
  expect(declaredDifficulty("class A:\n    difficulty = 2\n    max_turns = 3\n")).toBe(2);
  expect(declaredDifficulty("export class A {\n  static readonly difficulty: number = 12;\n}\n")).toBe(12);
  for (const none of ["class A:\n    max_turns = 1\n", "def f(self, difficulty=1): pass", "    self.difficulty = 4", "difficulty = easy"]) expect(declaredDifficulty(none)).toBeUndefined();
  expect(atDifficulty("class A:\n    difficulty = 2  # at least 1\n    x = 2\n", 10)).toBe("class A:\n    difficulty = 10  # at least 1\n    x = 2\n");
});
