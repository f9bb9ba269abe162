import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ObservedSandbox } from "./pool.ts";
import type { ProgramFacts, ProgramHandle } from "./sandbox.ts";
import { sameCases, verifyCases } from "./testing/guest-cases.ts";
import { createOne, failureOf, openProgram, openTestSandbox, valueOf } from "./test-sandbox.ts";

let sandbox: ObservedSandbox;

beforeAll(async () => {
  sandbox = await openTestSandbox();
});
afterAll(() => sandbox.close());

const judges = {
  python: `import json
class Judge(TextGame):
    def reset(self, seed=None):
        return self.show("ready")
    def step(self, action):
        kind, left, right = json.loads(action)
        if kind == "same":
            won = same(left, right)
        else:
            from math_verify import parse, verify
            won = verify(parse(left), parse(right)) and verify(left, right)
        return self.finish(won)
`,
  typescript: `export default class Judge extends TextGame {
  reset() { return this.show("ready"); }
  step(action: string) {
    const [kind, left, right] = JSON.parse(action);
    return this.finish(kind === "same" ? same(left, right) : verify(parse(left), parse(right)) && verify(left, right));
  }
}
`,
};

describe.each(Object.entries(judges))("answers in %s", (_language, source) => {
  let judge: ProgramHandle;
  let instance: number;

  beforeAll(async () => {
    judge = await openProgram(sandbox, source);
    instance = (await createOne(judge, 0)).instance;
  });

  async function equal(kind: string, left: unknown, right: unknown): Promise<boolean> {
    return valueOf((await judge.step([{ instance, action: JSON.stringify([kind, left, right]) }]))[0]).reward === 1;
  }

  test.each(verifyCases)("verify %s and %s: %s", async (gold, answer, expected) => {
    const start = performance.now();
    expect(await equal("verify", gold, answer)).toBe(expected);
    expect(performance.now() - start).toBeLessThan(2000);
  });

  test.each(sameCases)("same(%j, %j): %s", async (left, right, expected) => {
    expect(await equal("same", left, right)).toBe(expected);
  });
});

describe("entry class", () => {
  const methods = "    def reset(self, seed=None): return type(self).__name__\n    def step(self, action): return 'x', 0.0, True, False, {}\n";
  const entryOf = async (source: string): Promise<string> => {
    const handle = await openProgram(sandbox, source);
    const { observation } = await createOne(handle, 0);
    await handle.close();
    expect(observation).toBe(handle.facts.entry);
    return handle.facts.entry;
  };

  test.each([
    ["any name", `class PuzzleGame:\n${methods}`, "PuzzleGame"],
    ["helper before", `class Board:\n    pass\nclass Game:\n${methods}`, "Game"],
    ["derived class", `class Base:\n${methods}class Real(Base):\n    pass\n`, "Real"],
    ["constructed class", `class Outer:\n    def __init__(self): self.inner = Inner()\n${methods}class Inner:\n${methods}`, "Outer"],
    ["name ending in Env", `class TheEnv:\n${methods}class Other:\n${methods}`, "TheEnv"],
    ["runtime base never counts", `class Mine(TextGame):\n${methods}`, "Mine"],
    ["imported base", `from abc import ABC\nclass Env(ABC):\n${methods}`, "Env"],
  ])("%s", async (_name, source, entry) => {
    expect(await entryOf(source)).toBe(entry);
  });

  test("keyword-only seed, dataclass, CRLF, math_verify", async () => {
    const source = `from __future__ import annotations
from dataclasses import dataclass
from typing import Optional
from math_verify import parse
@dataclass
class State:
    value: int = 0
class Game:
    def __init__(self, max_turns: int = 7, **kwargs):
        self.max_turns = max_turns
    def reset(self, *, seed: Optional[int] = None):
        return f"{State(seed)}"
    def step(self, action): return "x", 0.0, True, False, {}
`;
    const handle = await openProgram(sandbox, source.replaceAll("\n", "\r\n"));
    expect(handle.facts.maxTurns).toBe(7);
    expect((await createOne(handle, 3)).observation).toBe("State(value=3)");
    await handle.close();
  });

  test("code below the main guard does not run", async () => {
    expect(await failureOf(sandbox, `class A:\n${methods}\nif __name__ == "__main__":\n    raise SystemExit\n`)).toBeUndefined();
  });
});

describe("facts", () => {
  const factsOf = async (source: string): Promise<ProgramFacts> => {
    const handle = await openProgram(sandbox, source);
    await handle.close();
    return handle.facts;
  };
  const source = `class Game(TextGame):\n    """Doc."""\n    def reset(self, seed):\n        self.secret = self.start(seed).randint(1, 9)\n        return self.show(f"Find {1} thing")\n    def step(self, action):\n        return self.judge(action, self.secret)\n`;

  test("renaming and other constants leave the skeleton, another operation does not", async () => {
    const base = await factsOf(source);
    const renamed = await factsOf(source.replaceAll("secret", "answer").replaceAll("Game(", "Other(").replace("1, 9", "5, 70").replace("Doc", "Another text"));
    expect(renamed.skeleton).toBe(base.skeleton);
    expect(renamed.shingles).toEqual(base.shingles);
    const changed = await factsOf(source.replace("self.judge(action, self.secret)", "self.judge(action, self.secret + 1)"));
    expect(changed.skeleton).not.toBe(base.skeleton);
    const shared = changed.shingles.filter((shingle) => base.shingles.includes(shingle));
    expect(shared.length).toBeGreaterThan(base.shingles.length / 2);
    expect(changed.shingles).not.toEqual(base.shingles);
  });

  test("strings without docstrings, number of state variables, sorted shingles", async () => {
    const facts = await factsOf(source);
    expect(facts.strings).toEqual(["Find ", " thing"]);
    expect(facts.stateVariables).toBe(1);
    expect(facts.shingles).toEqual([...new Set(facts.shingles)].sort((a, b) => a - b));
  });

  test("facts are the same in every child", async () => {
    const other = await openTestSandbox();
    const handle = await openProgram(other, source);
    expect(handle.facts).toEqual(await factsOf(source));
    await other.close();
  });
});
