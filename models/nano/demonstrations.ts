import type { DesignExample } from "../../src/core/environment.ts";
import { gameSkills } from "../../src/core/role.ts";
import type { Rng } from "../../src/core/seed.ts";
import type { PromptMessages } from "../../src/designer/prompts.ts";
import { keywordsOf } from "../../src/designer/keywords.ts";
import { compactDesign, compactPrompts, fence } from "../../src/designer/prompts.ts";
import type { DocumentSource } from "./documents.ts";
import { drillGames } from "./drill-games.ts";
import { drills } from "./drills.ts";
import { moreDrillGames } from "./more-drill-games.ts";
import { moreDrills } from "./more-drills.ts";
import { playGame, playTurns, respond } from "./episodes.ts";
import type { Style } from "./episodes.ts";
import type { Difficulty, GeneratedProgram } from "./families/index.ts";
import { sampleDifficulty, sampleGame } from "./families/index.ts";

export type { GeneratedProgram } from "./families/index.ts";
export { sampleProgram } from "./families/index.ts";

/** One thing the model must say, and what it saw just before (absent on the first turn: the prompt). */
export interface DemonstrationTurn {
  readonly context?: string;
  readonly target: string;
}

/** One training row of the warm start; targets come without the end token. */
export interface Demonstration {
  readonly role: "designer" | "hint" | "agent";
  /** Family of the program, or `drill`. */
  readonly family: string;
  readonly skill: string;
  readonly messages: PromptMessages;
  readonly turns: readonly DemonstrationTurn[];
}

/** Characters of an earlier program that the designer sees. */
export const exampleMaxChars = 160;

const allDrills = [...drills, ...moreDrills];
const allDrillGames = [...drillGames, ...moreDrillGames];
const hintShare = 0.35;
/** Shares of episodes without a hint. */
const hastyShare = 0.4;
const slipShare = 0.15;

/** Skill, passage, keywords of it and up to two earlier programs with verdicts → a program that heeds the verdicts, and its hint. */
export function designerDemonstration(rng: Rng, documents: DocumentSource, withKeywords = true): { demonstration: Demonstration; hintDemonstration: Demonstration; program: GeneratedProgram; document: string } {
  const skill = rng.pick(gameSkills);
  const document = documents(rng);
  const examples: DesignExample[] = [];
  let family: string | undefined;
  let difficulty = sampleDifficulty(rng);
  for (let i = rng.pick([0, 0, 1, 1, 1, 2, 2]); i > 0; i--) {
    const { example, next } = earlier(rng, documents, skill);
    examples.push(example);
    family = next.family;
    difficulty = next.difficulty;
  }
  const id = withKeywords ? `0.${rng.int(0, 999_999)}` : "0.0";
  const keywords = withKeywords ? keywordsOf(document.text, id) : undefined;
  const { program } = sampleGame(rng, document, { skill, family, difficulty, keywords });
  const task = { id, skill, documentId: document.id, documentText: document.text, examples };
  const shared = { family: program.family, skill } as const;
  return {
    program,
    document: document.text,
    demonstration: { ...shared, role: "designer", messages: compactDesign(task, exampleMaxChars, keywords ?? []), turns: [{ target: design(program, withKeywords ? " " : ", ") }] },
    hintDemonstration: { ...shared, role: "hint", messages: compactPrompts.hint(program.source), turns: [{ target: program.hint }] },
  };
}

/** What the designer says: the plan (family and the passage's words in the order of their use), then the program. */
function design({ family, words, source }: GeneratedProgram, separator: string): string {
  return `${family}: ${words.join(separator)}\n${fence(source)}`;
}

/** An earlier program of the skill with a verdict, and what to write after having seen it. */
function earlier(rng: Rng, documents: DocumentSource, skill: string): { example: DesignExample; next: { family: string | undefined; difficulty: Difficulty } } {
  const verdict = rng.pick(["good", "good", "good", "too easy", "too hard"] as const);
  const shownLevel: Difficulty = verdict === "too easy" ? rng.pick([1, 1, 2]) : verdict === "too hard" ? rng.pick([2, 3, 3, 4]) : sampleDifficulty(rng);
  const { program } = sampleGame(rng, documents(rng), { skill, difficulty: shownLevel });
  const keep = rng.chance(verdict === "good" ? 0.6 : 0.5) ? program.family : undefined;
  const change = verdict === "too easy" ? 1 : verdict === "too hard" ? -1 : rng.pick([0, 0, 0, 1, -1]);
  const difficulty = Math.max(1, Math.min(4, shownLevel + change)) as Difficulty;
  return { example: { verdict, skill, source: program.source }, next: { family: keep, difficulty } };
}

/** One episode, played in a style: with working (always so with a hint), or by guessing. A `drills` share is free wording instead of a program. */
export function agentDemonstration(rng: Rng, documents: DocumentSource, drills: number): Demonstration {
  const hinted = rng.chance(hintShare);
  const style: Style = hinted ? "careful" : rng.chance(hastyShare) ? "hasty" : rng.chance(slipShare) ? "slip" : "careful";
  if (rng.chance(drills)) return drill(rng, hinted, style);
  const made = sampleGame(rng, documents(rng));
  const { observation, turns } = playGame(rng, made, style);
  return { role: "agent", family: made.program.family, skill: made.program.skill, messages: compactPrompts.play(observation, hinted ? made.program.hint : undefined), turns };
}

const openings = ["Puzzle:", "Next task.", "A short question.", "Read this with care.", "It is a rainy day.", "Here is a riddle.", "Level 2.", "The old clock strikes.", "Welcome back!", "Think first.", "Round 3."];
const closings = ["Reply with the answer only.", "Take your time.", "Put the answer in \\boxed{}.", "No other text is needed.", "Good luck.", "There is one right answer.", "What do you say?"];

/** Sometimes puts sentences around a drill that do not matter. */
function dressed(rng: Rng, observation: string, after: readonly string[]): string {
  const head = rng.chance(0.2) ? `${rng.pick(openings)} ` : "";
  const tail = after.length > 0 && rng.chance(0.2) ? ` ${rng.pick(after)}` : "";
  return head + observation + tail;
}

function drill(rng: Rng, hinted: boolean, style: Style): Demonstration {
  if (rng.chance(0.35)) {
    const game = rng.pick(allDrillGames)(rng);
    return { role: "agent", family: "drill", skill: game.skill, messages: compactPrompts.play(dressed(rng, game.observation, []), hinted ? game.hint : undefined), turns: playTurns(rng, game, style) };
  }
  const made = rng.pick(allDrills)(rng);
  const target = respond(rng, { ...made, style, easy: made.hard ? 0.25 : 0.7 });
  return { role: "agent", family: "drill", skill: made.skill, messages: compactPrompts.play(dressed(rng, made.observation, closings), hinted ? made.hint : undefined), turns: [{ target }] };
}
