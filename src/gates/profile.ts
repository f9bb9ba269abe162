import type { GateContext } from "./context.ts";
import { type Play, script } from "./probe.ts";

/** A single action of at least this many words is taken for an explanation, if it does not win. */
const minProseWords = 5;

/**
 * Why the gates on `solution()` do not apply; undefined when they do. Only the profile `foreign` excuses a program: when
 * it has no solution(), one that is no list of actions, or free text, that is one long action that does not win by
 * replay. A list of actions, or a free text that wins, is judged as ever.
 * @throws Rejection when guest code fails
 */
export async function withoutActions(context: GateContext): Promise<string | undefined> {
  const { config, handle, seeds } = context;
  if (config.profile === "own") return undefined;
  if (!handle.facts.hasSolution) return "profile foreign: the program has no solution()";
  const solutions = await context.solutions();
  if (solutions.every((result) => !result.ok && result.failure.code === "protocol")) return "profile foreign: solution() returns no list of actions";
  const texts = solutions.map((result) => (result.ok && result.value.length === 1 ? result.value[0] : undefined)).filter((text) => text !== undefined);
  if (texts.length < seeds.length || !texts.every((text) => text.trim().split(/\s+/).length >= minProseWords)) return undefined;
  const traces = await context.run(seeds.map((seed, i): Play => ({ seed, player: script([texts[i] ?? ""]) })));
  return traces.every(({ won }) => won) ? undefined : "profile foreign: solution() is free text";
}
