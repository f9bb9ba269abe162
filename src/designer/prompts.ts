import type { DesignTask } from "../core/environment.ts";
import { keywordsOf } from "./keywords.ts";

export interface PromptMessages {
  readonly system: string;
  readonly user: string;
}

/** Why the gates refused an earlier candidate of the same design task. */
export interface Rejection {
  readonly gate: string;
  readonly code: string;
  readonly message: string;
}

/** How designer and agent are spoken to. */
export interface Prompts {
  /** Asks for a program; after a rejected attempt with what was wrong with it. Examples are cut after `exampleMaxChars`. */
  readonly design: (task: DesignTask, exampleMaxChars: number, rejection?: Rejection) => PromptMessages;
  /** Asks for a hint; it sees the program's source and nothing else. */
  readonly hint: (source: string) => PromptMessages;
  /** First turn of an episode; both arms differ only in the hint (invariant 5). */
  readonly play: (observation: string, hint?: string) => PromptMessages;
}

/**
 * Prompts of the bundled nano policy: short, because every token counts in its context. Its demonstrations
 * (`models/nano/`) are rendered by these same functions; they know no rejections.
 */
export const compactPrompts: Prompts = {
  design: (task, exampleMaxChars) => compactDesign(task, exampleMaxChars, keywordsOf(task.documentText, task.id)),
  hint: (source) => ({ system: "hint", user: fence(source) }),
  play: (observation, hint) => ({
    system: "agent",
    user: hint === undefined ? observation : `hint: ${hint}\n${observation}`,
  }),
};

/** The compact question for a program. `keywords`: nouns of the document to name things with; a model this small does not find them by itself. */
export function compactDesign(task: DesignTask, exampleMaxChars: number, keywords: readonly string[]): PromptMessages {
  return {
    system: "designer",
    user: [
      `skill: ${task.skill}`,
      ...(task.documentText === "" ? [] : [`document: ${task.documentText}`]),
      ...task.examples.map((example) => `${example.verdict}: ${example.source.slice(0, exampleMaxChars).trim()}`),
      ...(keywords.length === 0 ? [] : [`words: ${keywords.join(" ")}`]),
    ].join("\n"),
  };
}

/** A program as the designer writes it. */
export function fence(source: string): string {
  return `\`\`\`python\n${source.trim()}\n\`\`\``;
}
