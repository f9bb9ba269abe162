import { canonicalJson } from "../core/digest.ts";
import { type GateContext, type SolvedSeed, solvedSeeds } from "./context.ts";
import { outcome, type Play, script, shorten } from "./probe.ts";
import { withoutActions } from "./profile.ts";
import { type Evidence, Rejection } from "./record.ts";

/**
 * Rejects a program whose solution is not what wins:
 * - `redundant`: on no probe seed are there `minNecessarySteps` steps whose removal makes the solution lose;
 * - `other-seed`: solutions of other probe seeds win too often where they differ from the seed's own;
 * - `among-others`: an action that names the answers of two other seeds around the seed's own wins too often: the check
 *   looks for the answer in the action, so that naming many answers wins. Only where solutions have one action.
 */
export async function necessary(context: GateContext): Promise<Evidence> {
  const notApplicable = await withoutActions(context);
  if (notApplicable !== undefined) return { notApplicable };
  const cases = await solvedSeeds(context);
  return { ...(await withStepsRemoved(context, cases)), ...(await withOtherSolutions(context, cases)), ...(await withAnswersTogether(context, cases)) };
}

/** Plays every solution of two and more steps once without each of its steps. */
async function withStepsRemoved(context: GateContext, cases: readonly SolvedSeed[]): Promise<Evidence> {
  const { minNecessarySteps } = context.config.necessary;
  const long = cases.filter(({ solution }) => solution.length >= 2);
  const plays = long.flatMap(({ seed, solution }) => solution.map((_, step): Play => ({ seed, player: script(solution.toSpliced(step, 1)) })));
  const traces = await context.run(plays);
  const necessarySteps = long.map(({ seed }) => traces.filter((trace) => trace.seed === seed && !trace.won).length);
  const evidence = { steps: long.map(({ solution }) => solution.length), necessarySteps };
  const winner = traces.find(({ won }) => won);
  if (winner === undefined || long.some(({ solution }, i) => (necessarySteps[i] ?? 0) >= Math.min(minNecessarySteps, solution.length))) return evidence;
  throw new Rejection("redundant", `No solution of the ${long.length} probe seeds with at least two steps needs ${minNecessarySteps} of them: it wins with any other step left out.`, {
    ...evidence,
    seed: winner.seed,
    actions: winner.actions.map(shorten),
    expected: "a loss, since a step of the solution is left out",
    got: outcome(winner),
  });
}

/** Plays on every seed each solution of the other seeds that does not begin with the seed's own. */
async function withOtherSolutions(context: GateContext, cases: readonly SolvedSeed[]): Promise<Evidence> {
  const { maxOtherSeedWinRate } = context.config.necessary;
  const distinct = [...new Map(cases.map(({ solution }) => [canonicalJson(solution), solution])).values()];
  const plays = cases.flatMap(({ seed, solution }) => others(solution, distinct).map((other): Play => ({ seed, player: script(other) })));
  const traces = await context.run(plays);
  const winners = traces.filter(({ won }) => won);
  const evidence = { otherSolutions: traces.length, otherSolutionsWin: winners.length };
  const [winner] = winners;
  if (winner === undefined || winners.length <= maxOtherSeedWinRate * traces.length) return evidence;
  throw new Rejection("other-seed", `Solutions of other seeds win ${winners.length} of ${traces.length} plays; at most ${maxOtherSeedWinRate} of them may, or the seed does not matter.`, {
    ...evidence,
    seed: winner.seed,
    actions: winner.actions.map(shorten),
    expected: "a loss, since these actions are the solution of another seed",
    got: outcome(winner),
  });
}

/** Plays on every seed whose solution is one action that action between those of two other seeds. */
async function withAnswersTogether(context: GateContext, cases: readonly SolvedSeed[]): Promise<Evidence> {
  const { maxOtherSeedWinRate } = context.config.necessary;
  const answers = [...new Set(cases.flatMap(({ solution: [answer = "", ...more] }) => (more.length === 0 ? [answer] : [])))];
  const plays = cases.flatMap(({ seed, solution: [own = "", ...more] }): Play[] => {
    const [before, after = before] = more.length > 0 || own === "" ? [] : answers.filter((other) => !other.includes(own) && !own.includes(other));
    const action = `${before} ${own} ${after}`;
    return before === undefined || action.length > context.sandbox.limits.maxActionChars ? [] : [{ seed, player: script([action]) }];
  });
  const traces = await context.run(plays);
  const winners = traces.filter(({ won }) => won);
  const evidence = { answersTogether: traces.length, answersTogetherWin: winners.length };
  const [winner] = winners;
  if (winner === undefined || winners.length <= maxOtherSeedWinRate * traces.length) return evidence;
  throw new Rejection("among-others", `An action that names the answers of three seeds wins ${winners.length} of ${traces.length} plays; at most ${maxOtherSeedWinRate} of them may, or naming many answers wins.`, {
    ...evidence,
    seed: winner.seed,
    actions: winner.actions.map(shorten),
    expected: "a loss, since the action names several answers",
    got: outcome(winner),
  });
}

function others(own: readonly string[], solutions: readonly (readonly string[])[]): (readonly string[])[] {
  return solutions.filter((solution) => own.some((action, i) => solution[i] !== action));
}
