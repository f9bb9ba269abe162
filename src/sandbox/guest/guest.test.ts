import { describe, expect, test } from "vitest";
import { boxed, same } from "./answers.ts";
import { parametersOf } from "./parameters.ts";
import { Random } from "./random.ts";
import { TextGame } from "./text-game.ts";

describe("same", () => {
  test.each([
    ["4", 4], ["4.0", "4"], ["1e2", "100"], ["-0", "0"], [" Red  Fox", "red fox"], ["[1, 2]", [1, 2]], ["1 2", "1 2"],
    ["0.30000000000000004", 0.3], [".5", "0.50"], ["+7", "7"], ["a,b", ["A", "b"]], ["100000000000000000000", "1e20"],
  ])("%j is %j", (a, b) => expect([same(a, b), same(b, a)]).toEqual([true, true]));

  test.each([
    ["4", 5], ["100000000000000000001", "100000000000000000000"], ["", "0"], ["1,2", [1, 2, 3]], ["e", "1e1"], [".", "0"], ["-1", "1"], ["true", "1"],
  ])("%j is not %j", (a, b) => expect([same(a, b), same(b, a)]).toEqual([false, false]));
});

test("boxed takes the last complete box", () => {
  expect(boxed("so \\boxed{a{b}c} or \\boxed{2}")).toBe("2");
  expect(boxed("\\boxed{{1}} \\boxed{open")).toBe("{1}");
  expect(boxed("none")).toBeUndefined();
});

describe("Random", () => {
  test("is a function of its seed, in range, and even", () => {
    const draw = (seed: number) => Array.from({ length: 4 }, ((random) => () => random.random())(new Random(seed)));
    expect(draw(1)).toEqual(draw(1));
    expect(new Set([0, 1, 2, 2 ** 32, -1].map((seed) => draw(seed)[0])).size).toBe(5);
    const random = new Random(7);
    const counts = [0, 0, 0, 0];
    for (let i = 0; i < 4000; i++) counts[random.int(0, 3)]!++;
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(150);
    for (let i = 0; i < 1000; i++) expect(random.random()).toBeLessThan(1);
  });

  test("shuffle, sample and choice keep the items", () => {
    const random = new Random(3);
    const items = Array.from({ length: 20 }, (_, i) => i);
    const shuffled = random.shuffle([...items]);
    expect(shuffled).not.toEqual(items);
    expect([...shuffled].sort((a, b) => a - b)).toEqual(items);
    expect(new Set(random.sample(items, 20)).size).toBe(20);
    expect(items).toContain(random.choice(items));
    expect(() => random.choice([])).toThrow("empty");
    expect(() => random.sample(items, 21)).toThrow("21");
  });
});

test("TextGame counts turns, judges and truncates as the Python one does", () => {
  const game = new TextGame();
  game.maxTurns = 2;
  game.start(5);
  expect(game.show("go")).toEqual({ observation: "go", info: {} });
  expect(game.tell("a")).toMatchObject({ observation: "a", reward: 0, terminated: false, truncated: false });
  expect(game.tell("b")).toMatchObject({ truncated: true });
  expect(game.judge("4", 4)).toMatchObject({ observation: "Correct.", reward: 1, terminated: true });
  expect(game.judge("5", 4)).toMatchObject({ observation: "Wrong.", reward: 0, terminated: true });
  game.start(5);
  expect(game.turn).toBe(0);
});

test.each([
  ["tool_a() { return 1; }", [], []],
  ['tool_a({ x, y = [1, 2], "z": w, u: v = "=>" }) {}', ["x", "y", "z", "u"], ["y", "u"]],
  ["tool_a(args) { const { x, y = 2 } = args; return args.z + args['w'] + args?.v; }", ["z", "w", "v", "x", "y"], ["y"]],
  ["tool_a(args) { return args.x ?? Object.keys(args); }", ["declared"], []],
  ["(args) => args.x", ["x"], []],
  ["async args => other.args.y + args.x", ["x"], []],
  ["tool_a([x]) {}", ["declared"], []],
])("parameters of %s", (text, names, defaults) => {
  expect(parametersOf(text, ["declared"])).toEqual({ names, defaults });
});
