import { expect, test } from "vitest";
import type { RunEvent, Stage } from "./events.ts";
import { StageTimes } from "./stage-times.ts";

test("a stage takes as long as its last event says, each time it comes, in its own iteration", () => {
  const heard: RunEvent[] = [];
  const times = new StageTimes();
  const tell = times.listening((event) => heard.push(event));
  const stage = (iteration: number, name: Stage, seconds: number): void => tell({ kind: "stage", iteration, stage: name, done: 1, total: 1, tokens: 0, seconds });
  stage(1, "design", 0.5);
  stage(1, "play", 1);
  stage(1, "design", 2);
  // The next iteration is sampled while this one is evaluated on two suites.
  stage(1, "evaluate", 3);
  stage(2, "design", 0.1);
  stage(1, "evaluate", 0);
  stage(1, "evaluate", 4);
  expect(times.take(1)).toEqual({ designMs: 2000, playMs: 1000, evaluateMs: 7000 });
  expect(times.take(2)).toEqual({ designMs: 100 });
  expect(times.take(1)).toEqual({});
  expect(heard).toHaveLength(7);
});
