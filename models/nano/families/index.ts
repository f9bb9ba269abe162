import { SpadeError } from "../../../src/core/errors.ts";
import { Rng } from "../../../src/core/seed.ts";
import type { GroundingDocument } from "../documents.ts";
import { Game } from "../python/game.ts";
import { assemble } from "./assemble.ts";
import { causal } from "./causal.ts";
import type { Context, Draft, Family } from "./draft.ts";
import { drawnWords, Ground } from "./ground.ts";
import { logical } from "./logical.ts";
import { mathematical } from "./mathematical.ts";
import { optimization } from "./optimization.ts";
import { pattern } from "./pattern.ts";
import { spatial } from "./spatial.ts";
import { varied } from "./vary.ts";

/** All families that demonstrations are made of. */
export const families: readonly Family[] = [...mathematical, ...logical, ...spatial, ...pattern, ...optimization, ...causal];

export type Difficulty = 1 | 2 | 3 | 4;

/** A program as the designer should have written it. */
export interface GeneratedProgram {
  readonly family: string;
  readonly skill: string;
  readonly source: string;
  /** The passage's words in the source, in the order of their first use. */
  readonly words: readonly string[];
  readonly hint: string;
  readonly difficulty: Difficulty;
}

/** A program with the draft it came from, which knows how to play it. */
export interface GeneratedGame {
  readonly program: GeneratedProgram;
  readonly draft: Draft;
  readonly game: Game;
}

export interface GameChoice {
  readonly skill?: string | undefined;
  readonly family?: string | undefined;
  readonly difficulty?: Difficulty | undefined;
  /** The program names things with these words of the passage, in this order. */
  readonly keywords?: readonly string[] | undefined;
}

const maxChars = 1_150;
const attempts = 30;

/** Mostly 1 and 2, sometimes 3, rarely 4. */
export function sampleDifficulty(rng: Rng): Difficulty {
  const x = rng.float();
  return x < 0.42 ? 1 : x < 0.8 ? 2 : x < 0.95 ? 3 : 4;
}

/** Draws a program until one is short enough and has varied, solvable instances. @throws SpadeError `internal.demonstration`. */
export function sampleGame(rng: Rng, document: GroundingDocument, choice: GameChoice = {}): GeneratedGame {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const candidates = families.filter((f) => (choice.family === undefined || f.name === choice.family) && (choice.skill === undefined || f.skill === choice.skill));
    const family = rng.pick(candidates);
    const difficulty = choice.difficulty ?? sampleDifficulty(rng);
    const topic = { document, family, difficulty };
    const { program, draft } = choice.keywords === undefined ? written(rng, topic) : writtenWith(choice.keywords, rng, topic);
    if (program.source.length > maxChars) continue;
    const game = new Game(program.source);
    if (sound(game, rng.int(0, 1_000_000))) return { program, draft, game };
  }
  throw new SpadeError("internal.demonstration", `No sound program of ${JSON.stringify(choice)} in ${attempts} attempts on document ${document.id}; check the families.`);
}

interface Topic {
  readonly document: GroundingDocument;
  readonly family: Family;
  readonly difficulty: Difficulty;
}

interface Written {
  readonly program: GeneratedProgram;
  readonly draft: Draft;
  readonly ground: Ground;
}

/** A program that names things with `words`, in drawn order when absent. */
function written(rng: Rng, { document, family, difficulty }: Topic, words?: readonly string[]): Written {
  const local = rng.chance(0.15);
  const ground = new Ground(rng, document, words ?? drawnWords(rng, document));
  const context: Context = { rng, ground, level: difficulty, v: (name) => name };
  const single = { ...context, v: local ? (name: string) => name : (name: string) => `self.${name}` };
  const draft = varied(single, family.draft(single));
  const source = assemble(rng, draft, local);
  const hint = hintOf(rng, draft);
  return { program: { family: family.name, skill: family.skill, source, words: usedWords(source, ground.handed), hint, difficulty }, draft, ground };
}

/**
 * A program that uses the keywords in their order, so that its plan is their beginning. Written twice from one seed: the first time to see in
 * which order it uses what it is handed. Its units are named last.
 */
function writtenWith(keywords: readonly string[], rng: Rng, topic: Topic): Written {
  const seed = rng.uint32();
  const words = [...new Set([...keywords, ...drawnWords(rng, topic.document)])];
  const trial = written(new Rng(seed), topic, words);
  const used = trial.program.words.filter((word) => !trial.ground.handedUnits.has(word));
  const rank = new Map([...new Set([...used, ...words])].map((word, i) => [word, i]));
  const { program, draft, ground } = written(new Rng(seed), topic, words.map((word) => words[rank.get(word) ?? 0] ?? word));
  const isUnit = (word: string): boolean => ground.handedUnits.has(word);
  return { program: { ...program, words: program.words.toSorted((a, b) => Number(isUnit(a)) - Number(isUnit(b))) }, draft, ground };
}

function usedWords(source: string, handed: readonly string[]): string[] {
  const at = (word: string): number => source.search(new RegExp(`\\b${word}\\b`));
  return [...new Set(handed)].filter((word) => at(word) >= 0).sort((a, b) => at(a) - at(b));
}

/** Draws a program of a skill at a difficulty, both free when absent. */
export function sampleProgram(rng: Rng, document: GroundingDocument, skill?: string, difficulty?: Difficulty): GeneratedProgram {
  return sampleGame(rng, document, { skill, difficulty }).program;
}

const formats = { number: ["Reply with the number.", "Answer with one number.", "Box the number."], word: ["Reply with one word.", "Answer with the name only."], list: ["Reply with all of them in order.", "Answer in the order asked for, with spaces."] };

/** Strategy, and often the form of the answer. */
function hintOf(rng: Rng, draft: Draft): string {
  const strategy = rng.chance(0.2) ? rng.sample(draft.hints, 2).join(" ") : rng.pick(draft.hints);
  const format = draft.kind === "multi" ? draft.format : rng.pick(formats[draft.answer]);
  return rng.chance(0.5) && !/\b(?:Reply|Answer|Box|box)\b/.test(strategy) ? `${strategy} ${format}` : strategy;
}

/** Whether the solution wins on a few seeds and the seeds differ. */
function sound(game: Game, first: number): boolean {
  const shown = new Set<string>();
  for (let seed = first; seed < first + 4; seed++) {
    const observation = game.reset(seed);
    const solution = game.solution();
    shown.add(`${observation}\n${solution.join("\n")}`);
    if (!solution.some((action, i) => game.step(action).won && i === solution.length - 1)) return false;
  }
  return shown.size >= 3;
}
