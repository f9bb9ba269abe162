import type { Language } from "../core/environment.ts";
import type { GateId } from "./config.ts";
import type { GateResult } from "./record.ts";

const byGate: Readonly<Record<GateId, string>> = {
  extract: "Put the whole program into one closed block that begins with ```python.",
  parse: "Correct the syntax; the message names the line.",
  load: "Define one class with reset(seed) and step(action) that can be constructed without arguments, and do nothing but definitions at import.",
  grounded: "Let the texts of the program speak of the things in the document.",
  shape: "reset returns (text, dict); step returns (text, number, bool, bool, dict). Texts are not empty, rewards are finite.",
  robustness: "Answer every action that is no sensible one with a text and reward 0, without raising and without winning.",
  resources: "Make every call cheap: no unbounded loop, no growing state, no waiting.",
  determinism: "Draw every random choice from random.Random(seed) in reset, keep state on self only and set all of it in reset; no clock, no id(), no order of a set.",
  variety: "Let the seed choose what is shown or what wins.",
  "pre-satisfied": "Begin in a state in which the goal does not hold, and check the goal only after an action that serves it.",
  solvable: "Let solution() return, from the state after reset(seed), the exact actions that win, in order and within the turn limit.",
  "tool-use": "Make every criterion false at reset and true in turn under solution(), schemas equal to the tool methods, and leave a tool that no solution needs.",
  necessary: "Make the checker look at every step it asks for and at what the seed chose; leave superfluous steps out of solution().",
  "not-trivial": "Make the win depend on what the text says: more options, or an answer that must be worked out.",
  leak: "Do not print the answer; print what it follows from.",
  novelty: "Write another game, not the earlier one with other names or numbers.",
  audit: "Make text and checker ask for the same; replay the actions to see where they part.",
};

const byFailure: Readonly<Record<string, string>> = {
  raise: "Catch what the input can cause: the program must not raise on any text.",
  timeout: "Make the call shorter: it ran past its wall clock.",
  fuel: "Make the call cheaper: it ran past its budget of interpreter steps; look for a loop that does not end.",
  memory: "Keep less: the program ran past its memory limit.",
  output: "Say less: an observation or answer is over its size limit.",
  exit: "Do not leave the interpreter (sys.exit, os._exit).",
  denied: "Use the standard library only, without files, network, processes and the host.",
};

/** Where the remedy is another one in TypeScript, by gate or failure. */
const inTypescript: Readonly<Record<string, string>> = {
  extract: "Put the whole program into one closed block that begins with ```typescript.",
  load: "Write `export default class` with reset(seed) and step(action) that can be constructed without arguments, and do nothing but definitions at import.",
  shape: "reset returns { observation }; step returns { observation, reward, terminated, truncated }. Texts are not empty, rewards are finite.",
  determinism: "Draw every random choice from new Random(seed) in reset, keep state on this only and set all of it in reset; nothing in statics or in the module.",
  exit: "Do not leave the interpreter.",
  denied: "Use the language alone, without imports, files, network, processes and the host.",
};

/** What a person can do about a rejection. */
export function remedyOf({ id, code }: GateResult, language: Language = "python"): string {
  const own = language === "typescript" ? (inTypescript[code] ?? (byFailure[code] === undefined ? inTypescript[id] : undefined)) : undefined;
  if (own !== undefined) return own;
  if (id === "load" && code === "raise") return "Correct what is raised when the program is loaded or constructed without arguments.";
  return byFailure[code] ?? byGate[id];
}
