import type { Program } from "../core/environment.ts";
import type { PromptMessages } from "./prompts.ts";

const system = String.raw`You audit small environment programs in which a player acts and is rewarded. Compare what the texts shown to the player promise with what the code of step() decides. Look for a sequence of actions that wins by the text but that the code does not reward with a win, or that loses by the text but that the code rewards.

Answer with one JSON object and nothing after it:
{"opinion": "agree" or "disagree", "reason": "one sentence", "demonstration": {"seed": one of the seeds shown, "actions": ["first action", "second action"], "expected": "win" or "loss", by the text}}

Actions are written as step() gets them, without \boxed{}. The sequence is replayed: it counts only when the code decides against the text. Leave "demonstration" out when you agree.`;

/** Asks for a disagreement between a program's text and its checker. */
export function auditPrompt(task: { readonly program: Program; readonly resets: readonly { readonly seed: number; readonly observation: string }[]; readonly maxTurns: number }): PromptMessages {
  const { program, resets, maxTurns } = task;
  const shown = resets.map(({ seed, observation }) => `# What the player sees first with seed ${seed}\n${observation}`);
  return { system, user: [`\`\`\`${program.language}\n${program.source.trim()}\n\`\`\``, ...shown, `An episode has at most ${maxTurns} turns.`].join("\n\n") };
}
