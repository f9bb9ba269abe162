import type { DesignTask } from "../core/environment.ts";

export interface PromptMessages {
  readonly system: string;
  readonly user: string;
}

/**
 * Prompts of the bundled nano policy: short, because every token counts in its context. Its demonstrations
 * (`models/nano/`) are rendered by these same functions.
 */
export const compactPrompts = {
  design: (task: DesignTask, exampleMaxChars: number): PromptMessages => ({
    system: "designer",
    user: [
      `skill: ${task.skill}`,
      `document: ${task.documentText}`,
      ...task.examples.map((example) => `${example.verdict}: ${example.source.slice(0, exampleMaxChars).trim()}`),
    ].join("\n"),
  }),

  /** The hint call sees the program's source, nothing else. */
  hint: (source: string): PromptMessages => ({ system: "hint", user: fence(source) }),

  /** First turn of an episode; both arms differ only in the hint (invariant 5). */
  play: (observation: string, hint?: string): PromptMessages => ({
    system: "agent",
    user: hint === undefined ? observation : `hint: ${hint}\n${observation}`,
  }),
};

/** A program as the designer writes it. */
export function fence(source: string): string {
  return `\`\`\`python\n${source.trim()}\n\`\`\``;
}
