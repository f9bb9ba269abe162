import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { agentDemonstration, designerDemonstration } from "../models/nano/demonstrations.ts";
import { loadPassages, pretrainingDocuments } from "../models/nano/documents.ts";
import { Rng } from "../src/core/seed.ts";
import { loadSuite } from "../src/evaluation/suite.ts";
import { gameSkills } from "../src/core/role.ts";

const directory = join(import.meta.dirname, "..", "environments", "heldout");

/** Runs of `length` words in a text, numbers and interpolations reading `#`. */
function runs(text: string, length: number): string[] {
  const words = text.toLowerCase().replace(/\{[^{}]*\}/g, " # ").match(/[a-z]+|#|\d+/g)?.map((word) => (/\d/.test(word) ? "#" : word)) ?? [];
  return words.slice(length - 1).map((_, i) => words.slice(i, i + length).join(" ")).filter((run) => run.split(" ").filter((word) => word !== "#").length >= length - 1);
}

describe("the held-out battery", () => {
  it("has at least three programs per skill, in graded difficulty", async () => {
    const { programs } = await loadSuite(directory);
    for (const skill of gameSkills) {
      const levels = programs.filter((program) => program.skill === skill).map(({ level }) => level);
      expect(levels.length, skill).toBeGreaterThanOrEqual(3);
      expect(new Set(levels).size, skill).toBe(levels.length);
    }
  });

  it("shares no run of five words with the demonstrations", () => {
    const rng = new Rng(1);
    const documents = pretrainingDocuments(loadPassages(join(import.meta.dirname, "..", "corpora")));
    const seen = new Set<string>();
    const note = (text: string): void => runs(text, 5).forEach((run) => seen.add(run));
    for (let i = 0; i < 1500; i++) {
      const agent = agentDemonstration(rng, documents, 0.3);
      [agent.messages.user, ...agent.turns.flatMap((turn) => [turn.context ?? "", turn.target])].forEach(note);
      note(designerDemonstration(rng, documents).program.source);
    }
    const files = readdirSync(directory).filter((file) => file.endsWith(".py"));
    expect(files.length).toBeGreaterThanOrEqual(18);
    const shared = files.flatMap((file) => {
      const strings = readFileSync(join(directory, file), "utf8").match(/"(?:[^"\\]|\\.)*"/g) ?? [];
      return strings.flatMap((text) => runs(text, 5)).filter((run) => seen.has(run)).map((run) => `${file}: ${run}`);
    });
    expect(shared).toEqual([]);
  });

  it("shares no line of code with the demonstrations but the method headers", () => {
    const rng = new Rng(2);
    const documents = pretrainingDocuments(loadPassages(join(import.meta.dirname, "..", "corpora")));
    const lines = new Set<string>();
    for (let i = 0; i < 500; i++) for (const line of designerDemonstration(rng, documents).program.source.split("\n")) lines.add(line.trim());
    const headers = ["", "def reset(self, seed=None):", "def step(self, action):", "def solution(self):", "else:"];
    const shared = readdirSync(directory)
      .filter((file) => file.endsWith(".py"))
      .flatMap((file) => readFileSync(join(directory, file), "utf8").split("\n").map((line) => line.trim()).filter((line) => lines.has(line) && !headers.includes(line)).map((line) => `${file}: ${line}`));
    expect(shared).toEqual([]);
  });
});
