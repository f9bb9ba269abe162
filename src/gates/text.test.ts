import { describe, expect, it } from "vitest";
import { contentWords, listedOptions, occurrences, plainTokens, textTokens } from "./text.ts";

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
