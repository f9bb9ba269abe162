import { describe, expect, it } from "vitest";
import { keywordsOf } from "./keywords.ts";

const text = "The baker lights the oven before the street wakes. A bucket of water stands by the door, and the long peel leans on a shelf near the left wall of the room.";

describe("keywordsOf", () => {
  it("finds nouns after an article, in the order of the text, each once, none that steers a game", () => {
    const words = keywordsOf(text, "a");
    expect(words).toEqual(expect.arrayContaining(["baker", "bucket", "door", "shelf"]));
    expect(words).not.toContain("left");
    const at = words.map((word) => text.indexOf(word));
    expect(at.filter((place, i) => place < (at[i - 1] ?? 0)).length).toBeLessThanOrEqual(1);
    expect(new Set(words).size).toBe(words.length);
  });

  it("begins at another place for another key, and at the same for the same", () => {
    const firsts = new Set(Array.from({ length: 20 }, (_, i) => keywordsOf(text, String(i))[0]));
    expect(firsts.size).toBeGreaterThan(3);
    expect(keywordsOf(text, "3")).toEqual(keywordsOf(text, "3"));
  });

  it("gives at most 8, and none of an empty text", () => {
    expect(keywordsOf("The bell and the ash. ".repeat(3) + Array.from("abcdefghijkl", (c) => `The tin${c} stops.`).join(" "), "1")).toHaveLength(8);
    expect(keywordsOf("", "1")).toEqual([]);
  });
});
