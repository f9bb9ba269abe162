import { canonicalJson } from "../core/digest.ts";
import { deriveSeed } from "../core/seed.ts";
import { type GateContext, solvedSeeds } from "./context.ts";
import { trivialPolicies, type TrivialPolicy } from "./players.ts";
import { need, outcome, type Play, script, shorten } from "./probe.ts";
import { withoutActions } from "./profile.ts";
import { type Evidence, Rejection } from "./record.ts";
import { isNumber, isWord, listedOptions, textTokens } from "./text.ts";

/**
 * Rejects a program whose seeds look alike: neither the first observations nor the solutions are distinct often enough.
 * Either suffices: a game with hidden state may look the same on every seed, a choice may have few answers.
 */
export async function variety(context: GateContext): Promise<Evidence> {
  const { minDistinct } = context.config.variety;
  const observations = new Set(await context.observations()).size;
  const solutions = new Set((await solvedSeeds(context)).map(({ solution }) => canonicalJson(solution))).size;
  const evidence = { seeds: context.seeds.length, observations, solutions };
  if (Math.max(observations, solutions) < minDistinct) {
    throw new Rejection("uniform", `${context.seeds.length} seeds give ${observations} distinct observations and ${solutions} distinct solutions; at least ${minDistinct} of either are expected.`, { ...evidence, expected: `at least ${minDistinct} distinct observations or solutions`, got: Math.max(observations, solutions) });
  }
  return evidence;
}

const noOps = ["", "done", "<answer>done</answer>", "pass"];

/**
 * Rejects a program that is won before anything was done: on some seed a no-op wins at once, or each of three different
 * arbitrary actions of one kind (listed options, numbers, words) wins at once; one alone may be a lucky guess.
 */
export async function preSatisfied(context: GateContext): Promise<Evidence> {
  const { seeds } = context;
  const observations = await context.observations();
  const groups = seeds.map((_, i) => [...noOps.map((action) => [action]), ...arbitraryActions(observations[i] ?? "")]);
  const plays = seeds.flatMap((seed, i) => (groups[i] ?? []).flat().map((action): Play => ({ seed, player: script([action]) })));
  const traces = await context.run(plays);
  const found = seeds.filter((seed, i) => {
    const winners = new Set(traces.filter((trace) => trace.seed === seed && trace.won).map(({ actions }) => actions[0]));
    return (groups[i] ?? []).some((group) => group.every((action) => winners.has(action)));
  });
  const winner = traces.find(({ seed, won }) => seed === found[0] && won);
  if (winner !== undefined) {
    const evidence = { seeds: found, seed: winner.seed, actions: winner.actions.map(shorten), expected: "no win before anything is done", got: outcome(winner) };
    throw new Rejection("pre-satisfied", `The goal is pre-satisfied on ${found.length}/${seeds.length} seeds: ${found.join(", ")}. Nothing needs to be done there to win.`, evidence);
  }
  return { seeds: seeds.length };
}

/** Groups of three different actions of one kind. */
function arbitraryActions(observation: string): string[][] {
  const tokens = textTokens(observation);
  const kinds = [listedOptions(observation), [...tokens.filter(isNumber), "0", "1", "2"], tokens.filter(isWord)];
  return kinds.map((kind) => [...new Set(kind)].slice(0, 3)).filter((kind) => kind.length === 3);
}

/** Rejects a program whose `solution()` does not win by replay, on every probe seed and within the turn limit. */
export async function solvable(context: GateContext): Promise<Evidence> {
  const { seeds, maxTurns, handle } = context;
  const notApplicable = await withoutActions(context);
  if (notApplicable !== undefined) return { notApplicable };
  const expected = "a list of actions that wins";
  if (!handle.facts.hasSolution) throw new Rejection("no-solution", "The program has no solution(); expected a method that returns the actions that win.", { expected, got: "no method solution()" });
  const solutions = (await context.solutions()).map((result, i) => need(result, "solution", { seed: seeds[i] }));
  const long = seeds.filter((_, i) => (solutions[i] ?? []).length > maxTurns);
  if (long.length > 0) throw new Rejection("turns", `The solution takes more than the ${maxTurns} turns allowed on seeds ${long.join(", ")}.`, { seeds: long, seed: long[0], expected: `at most ${maxTurns} actions`, got: (solutions[seeds.indexOf(long[0] ?? 0)] ?? []).length });
  const traces = await context.run(seeds.map((seed, i): Play => ({ seed, player: script(solutions[i] ?? []) })));
  const lost = traces.filter(({ won }) => !won);
  const [first] = lost;
  if (first !== undefined) {
    const failures = lost.map(({ seed, actions, steps }) => ({ seed, actions: actions.slice(0, 10).map(shorten), last: shorten(steps.at(-1)?.observation ?? ""), reward: steps.at(-1)?.reward ?? null }));
    const evidence = { failures, seed: first.seed, actions: first.actions.map(shorten), expected: "a win: terminated with a reward above 0.5", got: `${outcome(first)}, last observation: ${shorten(first.steps.at(-1)?.observation ?? first.observation)}` };
    throw new Rejection("loses", `solution() does not win on ${lost.length}/${seeds.length} seeds: ${lost.map(({ seed }) => seed).join(", ")}.`, evidence);
  }
  return { seeds: seeds.length, steps: solutions.map((solution) => solution.length) };
}

/**
 * Rejects a program that a scripted policy wins too often. The policies are ranked on the probe seeds; the best few are
 * measured again on fresh seeds, so that the rate reported is not the luckiest of many.
 */
export async function notTrivial(context: GateContext): Promise<Evidence & { readonly trivialWinRate: number }> {
  const { maxWinRate, finalists, finalSeeds } = context.config["not-trivial"];
  const policies = trivialPolicies(await commonestSolution(context), context.handle.facts.actionForm);
  const probed = await winRates(context, policies, context.seeds);
  const best = [...probed].sort((a, b) => b.winRate - a.winRate).slice(0, finalists);
  const fresh = Array.from({ length: finalSeeds }, (_, i) => deriveSeed(context.seed, "trivial", i));
  const measured = await winRates(context, policies.filter(({ id }) => best.some((item) => item.id === id)), fresh);
  const top = measured.reduce((a, b) => (b.winRate > a.winRate ? b : a));
  const evidence = { trivialWinRate: top.winRate, best: top.id, seeds: finalSeeds, probed: Object.fromEntries(probed.filter(({ winRate }) => winRate > 0).map(({ id, winRate }) => [id, winRate])) };
  if (top.winRate > maxWinRate) {
    throw new Rejection("trivial", `The policy "${top.id}" wins ${top.winRate.toFixed(2)} of ${finalSeeds} plays; at most ${maxWinRate} is allowed to a policy that does not think.`, { ...evidence, ...top.example, expected: `a win rate of at most ${maxWinRate}`, got: top.winRate });
  }
  return evidence;
}

async function winRates(context: GateContext, policies: readonly TrivialPolicy[], seeds: readonly number[]): Promise<{ id: string; winRate: number; example: Evidence }[]> {
  const plays = policies.flatMap(({ id, player }) => seeds.map((seed): Play => ({ seed, player, playerSeed: deriveSeed(context.seed, "policy", id, seed) })));
  const traces = await context.run(plays);
  return policies.map(({ id }, i) => {
    const own = traces.slice(i * seeds.length, (i + 1) * seeds.length);
    const winner = own.find(({ won }) => won);
    return { id, winRate: own.filter(({ won }) => won).length / seeds.length, example: winner === undefined ? {} : { seed: winner.seed, actions: winner.actions.map(shorten) } };
  });
}

/** The solution that most probe seeds share; the first of equals. */
async function commonestSolution(context: GateContext): Promise<readonly string[] | undefined> {
  const counts = new Map<string, { solution: readonly string[]; count: number }>();
  for (const { solution } of await solvedSeeds(context)) {
    const key = canonicalJson(solution);
    counts.set(key, { solution, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()].sort((a, b) => b.count - a.count)[0]?.solution;
}
