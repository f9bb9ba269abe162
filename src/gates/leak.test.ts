import { describe, expect, it } from "vitest";
import { checkHint } from "./leak.ts";
import { contentWords, listedOptions, occurrences, plainTokens, textTokens } from "./text.ts";

describe("checkHint", () => {
  const numbers = [["412"], ["87"], ["3"], ["1204"]];
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
    ["  ", numbers, "empty"],
    ["x ".repeat(2000), numbers, "long"],
  ])("%j", (hint, solutions, code) => expect(checkHint(hint, { solutions })).toMatchObject({ code, verdict: code === "pass" ? "pass" : "reject" }));
});

describe("text", () => {
  it("reads words, numbers and signs", () => {
    expect(textTokens("Don't move -3 to 4-5, A1: 2.5°")).toEqual(["Don't", "move", "-3", "to", "4", "-", "5", ",", "A", "1", ":", "2.5", "°"]);
    expect(plainTokens("Go (North)!")).toEqual(["go", "north"]);
  });
  it("finds whole runs only", () => {
    expect(occurrences(plainTokens("12 3 123 12 3"), ["12", "3"])).toEqual([0, 3]);
    expect(occurrences(["a"], [])).toEqual([]);
  });
  it("lists options", () => {
    expect(listedOptions("Which one? Options: red, dark green or blue.")).toEqual(["red", "dark green", "blue"]);
    expect(listedOptions('Say "left" or [right].')).toContain("left");
    expect(listedOptions("A plain sentence")).toEqual([]);
  });
  it("compares content words without plurals and stop words", () => {
    expect(contentWords("The trays with loaves: a tray, glass")).toEqual(new Set(["tray", "loave", "glass"]));
  });
});
