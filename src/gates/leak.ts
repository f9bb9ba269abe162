import { deriveSeed } from "../core/seed.ts";
import { type GateContext, solved, type SolvedSeed, solvedSeeds } from "./context.ts";
import { shorten } from "./probe.ts";
import { type Evidence, Rejection } from "./record.ts";
import { isNumber, listedOptions, lowerTokens, occurrences, plainTokens } from "./text.ts";

/**
 * Rejects a program whose first observation gives its solution away. A solution is compared as a run of whole words and
 * numbers (all its actions joined); one of neither as a run of its characters. A word or number that stands in the text is not by itself a leak: options are
 * listed, operands are printed. It is a leak
 * - `cue`: when a fixed place gives it away: it follows the first occurrence of the same one or two tokens ("answer is
 *   …"; `^` is the start of the text) on more than `maxShare` of the seeds, be it a word, a number or an option. The cue
 *   is found on the probe seeds and measured on fresh ones, so that chance among few options does not count;
 * - `verbatim`: when a solution of at least `longTokens` tokens that is none of the text's listed options stands
 *   anywhere in the text, on more than `maxShare` of the seeds.
 */
export async function leak(context: GateContext): Promise<Evidence> {
  const { maxShare, longTokens, freshSeeds } = context.config.leak;
  const cases = (await solvedSeeds(context)).map(readCase);
  const cue = commonestCue(cases);
  const evidence: { seeds: number; cue?: string; probed?: number; fresh?: number } = { seeds: cases.length };
  if (cue !== undefined && cue.count > maxShare * cases.length) {
    const seeds = Array.from({ length: freshSeeds }, (_, i) => deriveSeed(context.seed, "leak", i));
    const fresh = solved(seeds, await context.lookAt(seeds)).map(readCase);
    const count = fresh.filter(({ text, solution }) => cuesOf(text, solution).has(cue.text)).length;
    Object.assign(evidence, { cue: cue.text, probed: cue.count / cases.length, fresh: count / freshSeeds });
    if (count > maxShare * freshSeeds) throw new Rejection("cue", `The first observation prints the solution right after "${cue.text}" on ${count}/${freshSeeds} fresh seeds.`, { ...evidence, ...shown(fresh.find(({ text, solution }) => cuesOf(text, solution).has(cue.text))) });
  }
  const verbatim = cases.filter(({ observation, text, solution }) => solution.length >= longTokens && occurrences(text, solution).length > 0 && !isListed(observation, solution));
  if (verbatim.length > maxShare * cases.length) {
    throw new Rejection("verbatim", `The first observation contains the solution verbatim on ${verbatim.length}/${cases.length} seeds.`, { seeds: verbatim.map(({ seed }) => seed), ...shown(verbatim[0]) });
  }
  return { ...evidence, verbatim: verbatim.length };
}

/** A seed on which the observation tells the solution. */
function shown(found: Case | undefined): Evidence {
  if (found === undefined) return {};
  const { seed, observation, solution } = found;
  return { seed, expected: "an observation that does not tell the solution", got: shorten(observation), solution: shorten(solution.join(" ")) };
}

interface Case {
  readonly seed: number;
  readonly observation: string;
  readonly text: readonly string[];
  readonly solution: readonly string[];
}

function readCase({ seed, observation, solution }: SolvedSeed): Case {
  const told = solution.join(" ");
  const plain = plainTokens(told);
  return plain.length > 0 ? { seed, observation, text: plainTokens(observation), solution: plain } : { seed, observation, text: lowerTokens(observation), solution: lowerTokens(told) };
}

function commonestCue(cases: readonly Case[]): { readonly text: string; readonly count: number } | undefined {
  const counts = new Map<string, number>();
  for (const { text, solution } of cases) for (const cue of cuesOf(text, solution)) counts.set(cue, (counts.get(cue) ?? 0) + 1);
  return [...counts].map(([text, count]) => ({ text, count })).sort((a, b) => b.count - a.count)[0];
}

/** The one- and two-token contexts whose first occurrence in the text is followed by the solution; numbers read `#`. */
function cuesOf(text: readonly string[], solution: readonly string[]): Set<string> {
  const masked = ["^", "^", ...text.map((token) => (isNumber(token) ? "#" : token))];
  const cues = new Set<string>();
  for (const at of occurrences(text, solution)) {
    for (const length of [1, 2]) {
      const context = masked.slice(at + 2 - length, at + 2);
      if (context.every((token) => token === "#")) continue;
      if (occurrences(masked, context)[0] === at + 2 - length) cues.add(context.join(" "));
    }
  }
  return cues;
}

function isListed(observation: string, solution: readonly string[]): boolean {
  return listedOptions(observation).some((option) => [plainTokens, lowerTokens].some((tokens) => tokens(option).join(" ") === solution.join(" ")));
}
