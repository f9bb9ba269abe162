import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSandbox } from "../sandbox/pool.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { defaultGates } from "./config.ts";
import { checkHint, type HintVerdict, judgeHint } from "./hint.ts";
import { backDoor } from "./testing/later-programs.ts";
import { goodPrograms } from "./testing/programs.ts";

describe("checkHint", () => {
  const numbers = [["412"], ["87"], ["3"], ["1204"]];
  const orders = [["take the red key", "open the blue door"], ["take the green key", "open the white door"]];
  it.each<[string, string[][], string]>([
    ["Add the loaves and the buns.", numbers, "pass"],
    ["For example 40 and 2 make 42.", numbers, "pass"],
    ["Multiply by 3 first.", numbers, "pass"],
    ["It is often 412.", numbers, "verbatim"],
    ["In 1204 loaves", numbers, "verbatim"],
    ["In 12045 loaves", numbers, "pass"],
    ["Go North north, EAST then.", [["north", "north", "east"], ["south", "east", "east"]], "verbatim"],
    ["Go north when the wall is south.", [["north"], ["south"], ["east"]], "pass"],
    ["It is amber.", [["amber"], ["amber"], ["olive"]], "verbatim"],
    ["Take the red key, then you should open the blue door.", orders, "overlap"],
    ["A door opens with the key of its own colour: take that key first.", orders, "pass"],
    ["  ", numbers, "empty"],
    ["x ".repeat(2000), numbers, "long"],
    ["```python\nprint(1)\n```\nAdd them.", numbers, "after-fence"],
    ["Add them.\n```\nqzx vw\n```", numbers, "in-fence"],
    ["Add them.\n```python\ndef f(", numbers, "in-fence"],
    ["Use `a + b` here.", numbers, "pass"],
  ])("%j", (hint, solutions, code) => expect(checkHint(hint, { solutions, limits: defaultGates.hint })).toMatchObject({ code, verdict: code === "pass" ? "pass" : "reject" }));

  it("can be switched off", () => {
    expect(checkHint("", { solutions: numbers, limits: { ...defaultGates.hint, enabled: false } }).verdict).toBe("pass");
  });
});

describe("judgeHint", () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await openSandbox({ lanes: 1 });
  }, 120_000);
  afterAll(() => sandbox.close());

  const judge = (hint: string, source: string, limits = defaultGates.hint): Promise<HintVerdict> =>
    judgeHint(hint, { sandbox, config: { ...defaultGates, hint: limits }, program: { language: "python", source }, solutions: [], seed: 3 });

  it.each(["open the oven", "There is a word for it: open the oven.", 'Say "open the oven" and see.'])("refuses %j, which wins without a look at the text", async (hint) => {
    expect(await judge(hint, backDoor)).toMatchObject({ verdict: "reject", code: "wins", evidence: { actions: ["open the oven"], got: "reward 1, terminated after 1 action" } });
  });

  it("lets pass a hint that must be applied to the text, equally each time", async () => {
    const hint = "Add the loaves and the buns, then say the sum.";
    const verdict = await judge(hint, goodPrograms["addition"] ?? "");
    expect(verdict.code).toBe("pass");
    expect(await judge(hint, goodPrograms["addition"] ?? "")).toEqual(verdict);
    expect((await judge("It is amber, olive, violet or white: compare the weights.", goodPrograms["choice"] ?? "")).code).toBe("pass");
  });

  it("refuses a hint whose play the program does not bear, and one whose words give away the answer", async () => {
    expect((await judge("Say boom", backDoor)).code).toBe("raise");
    expect((await judge("", backDoor)).code).toBe("empty");
    expect((await judge("Wait.", "class A(:")).code).toBe("parse");
  });

  it("does not play at a limit of 1", async () => {
    expect((await judge("Say boom", backDoor, { ...defaultGates.hint, maxWinRate: 1 })).code).toBe("pass");
  });
});
