import type { DesignExample, DesignTask } from "../core/environment.ts";
import { fence, type PromptMessages, type Prompts, type Rejection } from "./prompts.ts";

/** Prompts for models that follow instructions: the whole contract of an environment, in words (docs/gates.md). */
export const fullPrompts: Prompts = { design, hint, play };

const designerSystem = (grounding: string): string => String.raw`You design environments: small programs in which a language model practises a skill by acting and seeing what follows. You write one program per request. It is run without you, on many seeds, and tested before anyone plays it.

# The program
One Python file with one class, standard library only. No files, network, clock, threads, input or printing.

- ${"`max_turns`"}: class attribute, the number of actions an episode may take.
- ${"`reset(self, seed=None)`"} starts an episode and returns ${"`(observation, info)`"}: a text and a dict.
- ${"`step(self, action)`"} takes one action, a string, and returns ${"`(observation, reward, terminated, truncated, info)`"}: text, number, two booleans, dict.
- ${"`solution(self)`"} returns the list of actions that wins the episode that ${"`reset`"} has just started, whatever the seed.

# How it is played
The player sees the observation of ${"`reset`"}, thinks, and ends its reply with an action in \boxed{}. ${"`step`"} is given what stands in the last box, without the box. The player sees nothing but observations, so they must say what the situation is, what the goal is, which actions there are and how one is written, for example: give the total as \boxed{42}. In an f-string braces are doubled: \boxed{{42}}.

# Rules that are tested
1. Chance comes only from ${"`random.Random(seed)`"} made in ${"`reset`"}. Equal seeds and actions give equal episodes, also after another ${"`reset`"} of the same object; different seeds give different situations with different solutions.
2. Reward 1.0 in the step that reaches the goal, with ${"`terminated`"} true; 0.0 in every other step. Only the last reward counts. When the turns are used up, ${"`truncated`"} is true.
3. ${"`step`"} accepts any string. Empty, malformed or absurd actions never raise and never win: say what was wrong and let the turn pass, or end the episode with 0.0.
4. The actions of ${"`solution()`"} win on every seed, each step of it is there for a reason, and no other seed's solution wins.
5. Nothing is won by luck or habit: not by the first action, a constant, a repetition of the observation, or a random choice among few options.
6. The solution does not stand in an observation. It has to be worked out.
7. ${grounding}
8. Every call ends within milliseconds and observations stay below 2,000 characters.

Aim at a task that a capable player solves on about half of the seeds: several steps of reasoning that depend on each other, or several actions that each need the answer to the one before, and a check that computes the right result instead of comparing with a stored one.`;

const grounded = "Names, objects, numbers and relations come from the document. A player must be able to win without having read it.";
const ungrounded = "Invent names, objects, numbers and relations of your own.";

const designerRequest = "First describe in a few sentences the situation, what makes it hard, and how the solution is computed. Then write the whole program in one ```python block, and nothing after it.";

function design(task: DesignTask, exampleMaxChars: number, rejection?: Rejection): PromptMessages {
  const hasDocument = task.documentText !== "";
  const parts = [
    `# Skill\nThe environment trains: ${task.skill}.`,
    ...(hasDocument ? [`# Document\n${task.documentText.trim()}`] : []),
    ...(task.examples.length === 0 ? [] : [examples(task.examples, exampleMaxChars)]),
    ...(rejection === undefined ? [] : [rejected(rejection)]),
    `# Your task\nDesign a new environment for this skill${hasDocument ? ", grounded in this document" : ""}. ${designerRequest}`,
  ];
  return { system: designerSystem(hasDocument ? grounded : ungrounded), user: parts.join("\n\n") };
}

const verdicts: Readonly<Record<DesignExample["verdict"], string>> = {
  good: "of the right difficulty: learn from how it is made, but make something else",
  "too easy": "too easy, players nearly always won: demand more",
  "too hard": "too hard, players nearly always lost: say more, or ask for less",
};

function examples(given: readonly DesignExample[], maxChars: number): string {
  const shown = given.map(({ verdict, skill, source }) => {
    const text = source.trim();
    const cut = text.length > maxChars ? `${text.slice(0, maxChars)}\n# … (cut)` : text;
    return `An environment for ${skill}, ${verdicts[verdict]}.\n${fence(cut)}`;
  });
  return `# Earlier environments\n${shown.join("\n\n")}`;
}

function rejected({ gate, code, message }: Rejection): string {
  return `# Your last attempt was refused\nThe test "${gate}" refused the program you wrote for this task (${code}): ${message}\nWrite another program that passes this test and all other rules.`;
}

const hintSystem = String.raw`You advise a player. You see the program of an environment; the player sees only its texts. Write one hint that holds for every seed: the key insight or the strategy, in two to four sentences, and how an action is written in \boxed{}. Never give a solution, a number or a word that could be an answer, nor say how to cheat the check. Write prose without code, and nothing but the hint.`;

function hint(source: string): PromptMessages {
  return { system: hintSystem, user: `${fence(source)}\n\nWrite the hint.` };
}

const agentSystem = String.raw`You act in an environment, turn by turn. Each message tells you what you see. Think step by step, then act: end every reply with exactly one action in \boxed{}, written as the environment asks, for example \boxed{north} or \boxed{42}. What stands outside the box is not read by the environment. Where the environment lists tools, call them as it describes instead of using a box. You are rewarded for reaching the goal within the turns you have.`;

function play(observation: string, given?: string): PromptMessages {
  // The hint follows the first observation (algorithm, section 1).
  return { system: agentSystem, user: given === undefined ? observation : `${observation}\n\nHint: ${given}` };
}
