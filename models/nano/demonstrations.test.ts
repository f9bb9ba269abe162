import { describe, expect, it } from "vitest";
import { gameSkills } from "../../src/core/role.ts";
import { Rng } from "../../src/core/seed.ts";
import { fence } from "../../src/designer/prompts.ts";
import { agentDemonstration, designerDemonstration } from "./demonstrations.ts";
import { loadPassages, pretrainingDocuments } from "./documents.ts";
import { families, sampleGame } from "./families/index.ts";
import { Game } from "./python/game.ts";

const documents = pretrainingDocuments(loadPassages(new URL("../../corpora", import.meta.url).pathname));
const quotedWords = (source: string): string[] => [...source.matchAll(/(?<![fr.\w])"([a-z]{2,14})"/g)].map(([, word = ""]) => word);

describe("designer demonstrations", () => {
  it("are equal for equal seeds and differ otherwise", () => {
    const make = (seed: number): string => JSON.stringify(designerDemonstration(new Rng(seed), documents));
    expect(make(5)).toBe(make(5));
    expect(make(5)).not.toBe(make(6));
  });

  it("reach every family and at least three of each skill, several of them of many turns", () => {
    const rng = new Rng(1);
    const seen = new Set<string>();
    for (let i = 0; i < 400; i++) seen.add(designerDemonstration(rng, documents).program.family);
    expect([...seen].sort()).toEqual(families.map(({ name }) => name).sort());
    for (const skill of gameSkills) expect(families.filter((family) => family.skill === skill).length).toBeGreaterThanOrEqual(3);
  });

  it("are grounded, short, and carry a program that wins by its solution and bears odd actions", () => {
    const rng = new Rng(2);
    for (let i = 0; i < 300; i++) {
      const { demonstration, hintDemonstration, program } = designerDemonstration(rng, documents);
      const text = demonstration.messages.user;
      expect(program.words.length).toBeGreaterThanOrEqual(2);
      for (const word of program.words) expect(text).toMatch(new RegExp(`\\b${word}\\b`));
      expect(demonstration.turns).toEqual([{ target: `${program.family}: ${program.words.join(" ")}\n${fence(program.source)}` }]);
      expect(hintDemonstration.turns[0]?.target.length).toBeLessThan(220);
      expect(program.source.length).toBeLessThanOrEqual(1_150);
      const game = new Game(program.source);
      for (const odd of ["", "?!", "a".repeat(5_000), "9 ".repeat(400), "Reply with a number.", "{x} \n ü"]) {
        game.reset(i);
        expect(game.step(odd).won).toBe(false);
      }
      for (let seed = 0; seed < 4; seed++) {
        game.reset(seed);
        expect(game.solution().map((action) => game.step(action)).at(-1), program.source).toMatchObject({ won: true, ended: true });
      }
    }
  });

  it("name things by words of the passage", () => {
    const rng = new Rng(3);
    for (let i = 0; i < 200; i++) {
      const document = documents(rng);
      const { source } = sampleGame(rng, document, { family: rng.pick(["order", "lineup", "cycle", "delays", "blocked", "best", "elimination"]) }).program;
      const listed = /\[((?:"[a-z]+"(?:, )?){2,})\]/.exec(source)?.[1] ?? "";
      const words = quotedWords(listed);
      expect(words.length).toBeGreaterThan(1);
      for (const word of words) expect(document.text).toMatch(new RegExp(`\\b${word}\\b`));
    }
  });

  it("plan with the beginning of the prompt's keywords, each once", () => {
    const rng = new Rng(6);
    const begins = Array.from({ length: 300 }, () => {
      const { demonstration, program } = designerDemonstration(rng, documents);
      const keywords = /\nwords: (.*)$/.exec(demonstration.messages.user)?.[1]?.split(" ") ?? [];
      expect(new Set(program.words).size).toBe(program.words.length);
      const named = program.words.filter((word) => keywords.includes(word));
      return named.join() === keywords.slice(0, named.length).join();
    });
    expect(begins.filter(Boolean).length).toBeGreaterThan(0.9 * begins.length);
  });

  it("rarely repeat a syntax tree", () => {
    const rng = new Rng(4);
    const trees = new Set(Array.from({ length: 2_000 }, () => sampleGame(rng, documents(rng)).game.skeleton));
    expect(trees.size).toBeGreaterThan(1_500);
  });

  it("heed verdicts: after too hard comes an easier program, after too easy a harder one", () => {
    const rng = new Rng(5);
    const levels = { "too easy": [] as number[], "too hard": [] as number[] };
    for (let i = 0; i < 600; i++) {
      const { demonstration, program } = designerDemonstration(rng, documents);
      const verdict = demonstration.messages.user.split("\n").flatMap((line) => /^(too easy|too hard|good): class/.exec(line)?.[1] ?? []).at(-1);
      if (verdict === "too easy" || verdict === "too hard") levels[verdict].push(program.difficulty);
    }
    const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(mean(levels["too easy"])).toBeGreaterThan(1.9);
    expect(Math.max(...levels["too hard"])).toBeLessThan(4);
  });
});

describe("agent demonstrations", () => {
  const rng = new Rng(6);
  const all = Array.from({ length: 2_000 }, () => agentDemonstration(rng, documents, 0.3));
  const hinted = all.filter(({ messages }) => messages.user.startsWith("hint: "));
  const plain = all.filter(({ messages }) => !messages.user.startsWith("hint: "));
  const silent = (list: typeof all): number => list.filter(({ turns }) => turns[0]?.target.startsWith("\\boxed{")).length / list.length;

  it("end every turn with a boxed action", () => {
    for (const { turns } of all) {
      for (const { target } of turns) expect(target).toMatch(/\\boxed\{[^{}]+\}$/);
      expect(turns.slice(1).every(({ context }) => context !== undefined)).toBe(true);
    }
  });

  it("skip the working in about half of the plain episodes, hardly ever with a hint", () => {
    expect(silent(plain)).toBeGreaterThan(0.4);
    expect(silent(plain)).toBeLessThan(0.65);
    expect(silent(hinted)).toBeLessThan(0.12);
  });

  it("contain drills beside the families", () => {
    const share = all.filter(({ family }) => family === "drill").length / all.length;
    expect(share).toBeGreaterThan(0.2);
    expect(share).toBeLessThan(0.36);
    expect(new Set(all.map(({ family }) => family)).size).toBe(families.length + 1);
  });

  it("work out the demonstrated answer: with a hint the last number of the working is the action", () => {
    const sums = hinted.filter(({ family }) => ["ledger", "list", "rate", "sequence", "delays"].includes(family));
    expect(sums.length).toBeGreaterThan(50);
    for (const { turns } of sums) {
      const [, work = "", action = ""] = /^(.*)\. \\boxed\{(.*)\}$/.exec(turns[0]?.target ?? "") ?? [];
      expect(/-?\d+$/.exec(work)?.[0].replace(/^-(?=\d)/, (sign) => (Number(action) < 0 ? sign : ""))).toBe(action);
    }
  });
});
