import { type Clock, monotonicClock } from "../core/clock.ts";
import type { Program } from "../core/environment.ts";
import { SpadeError } from "../core/errors.ts";
import { deriveSeed } from "../core/seed.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { GatesConfig } from "./config.ts";
import { type GateContext, gateContext } from "./context.ts";
import { closeQuietly, outcome, type Play, type PlayTrace, script, shorten } from "./probe.ts";
import { type Evidence, Rejection } from "./record.ts";
import { isNumber, isWord, listedOptions, occurrences, plainTokens, textTokens } from "./text.ts";

/** Verdict on a hint. */
export interface HintVerdict {
  readonly verdict: "pass" | "reject";
  /**
   * `empty`, `long`, `in-fence` (a code fence with nothing after it), `after-fence`, `verbatim`, `overlap`, `wins`, a
   * guest failure's code when the hint could not be played, or `pass`.
   */
  readonly code: string;
  readonly message: string;
  readonly evidence: Evidence;
}

type HintLimits = GatesConfig["hint"];

const passes: HintVerdict = { verdict: "pass", code: "pass", message: "The hint gives no solution away.", evidence: {} };

/**
 * Checks that a hint is a hint (prose of a limited length) and gives no solution away in its words.
 * - `verbatim`: a solution of at least two tokens, or a number of at least three digits, must not stand in the hint on
 *   any seed; a shorter one (a direction, a small number: hints cannot avoid those) must not stand in it on more than
 *   half of the seeds, unless the hint names several of the solutions, as a list of options does;
 * - `overlap`: of a longer solution's distinct pairs of neighbouring tokens at most `maxOverlap` may stand in the hint.
 */
export function checkHint(hint: string, { solutions, limits }: { readonly solutions: readonly (readonly string[])[]; readonly limits: HintLimits }): HintVerdict {
  if (!limits.enabled) return { ...passes, message: "Hints are not checked." };
  return checkForm(hint, limits) ?? checkVerbatim(hint, solutions) ?? checkOverlap(hint, solutions, limits) ?? passes;
}

function refused(code: string, message: string, evidence: Evidence): HintVerdict {
  return { verdict: "reject", code, message, evidence };
}

function checkForm(hint: string, { maxChars }: HintLimits): HintVerdict | undefined {
  if (hint.trim() === "") return refused("empty", "The hint is empty.", { expected: "a sentence", got: "nothing" });
  if (hint.length > maxChars) return refused("long", `The hint has ${hint.length} characters; at most ${maxChars} are allowed.`, { expected: `at most ${maxChars} characters`, got: hint.length });
  const pieces = hint.split(/^ {0,3}(?:`{3,}|~{3,}).*$/m);
  if (pieces.length === 1) return undefined;
  const after = pieces.length >= 3 ? (pieces.at(-1) ?? "").trim() : "";
  const expected = "prose without a code block";
  if (after !== "") return refused("after-fence", `The hint goes on after a code block: "${shorten(after)}". Expected ${expected}.`, { expected, got: shorten(after) });
  return refused("in-fence", `The hint holds a code block. Expected ${expected}.`, { expected, got: shorten((pieces[1] ?? "").trim()) });
}

function checkVerbatim(hint: string, solutions: readonly (readonly string[])[]): HintVerdict | undefined {
  const text = plainTokens(hint);
  const present = solutions.map((actions) => plainTokens(actions.join(" "))).filter((solution) => occurrences(text, solution).length > 0);
  const long = present.find((solution) => solution.length >= 2 || /^-?\d{3,}/.test(solution[0] ?? ""));
  const distinct = new Set(present.map((solution) => solution.join(" "))).size;
  const leaked = long ?? (distinct === 1 && present.length > solutions.length / 2 ? present[0] : undefined);
  if (leaked === undefined) return undefined;
  return refused("verbatim", `The hint contains the solution "${leaked.join(" ")}".`, { expected: "a hint for every seed, without a solution", got: leaked.join(" ") });
}

function checkOverlap(hint: string, solutions: readonly (readonly string[])[], { maxOverlap, minPairs }: HintLimits): HintVerdict | undefined {
  const known = pairs(hint);
  for (const actions of solutions) {
    const own = [...pairs(actions.join(" "))];
    const shared = own.filter((pair) => known.has(pair));
    if (own.length < minPairs || shared.length <= maxOverlap * own.length) continue;
    const message = `${shared.length} of the ${own.length} pairs of neighbouring words of a solution stand in the hint; at most ${maxOverlap} of them may.`;
    return refused("overlap", message, { actions: actions.map(shorten), shared: shared.slice(0, 10), expected: `at most ${maxOverlap * own.length} shared pairs`, got: shared.length });
  }
  return undefined;
}

function pairs(text: string): Set<string> {
  const tokens = plainTokens(text);
  return new Set(tokens.slice(1).map((token, i) => `${tokens[i] ?? ""} ${token}`));
}

/** What a hint is judged by. */
export interface HintJudgement {
  readonly sandbox: Sandbox;
  readonly config: GatesConfig;
  readonly program: Program;
  /** Solutions on the probe seeds. */
  readonly solutions: readonly (readonly string[])[];
  /** Names the seeds of the plays. */
  readonly seed: number;
  /** Default: the monotonic clock. */
  readonly clock?: Clock;
}

/**
 * Checks a hint's words, then plays what it literally says, without a look at the observations; a hint that wins so is
 * no hint but the answer (`wins`). Fails closed, as gates do. Equal hints, programs and seeds give equal verdicts.
 */
export async function judgeHint(hint: string, judgement: HintJudgement): Promise<HintVerdict> {
  const { config, sandbox, program, seed, clock = monotonicClock } = judgement;
  const words = checkHint(hint, { solutions: judgement.solutions, limits: config.hint });
  if (words.verdict === "reject" || !config.hint.enabled || config.hint.maxWinRate >= 1) return words;
  try {
    const opened = await sandbox.open(program);
    if (!opened.ok) return refused(opened.failure.code, `The program could not be loaded to play the hint: ${shorten(opened.failure.message)}`, {});
    const handle = opened.value;
    try {
      return (await playHint(hint, gateContext({ config, sandbox, program, handle, document: "", archive: [], seed, clock }))) ?? words;
    } finally {
      await closeQuietly(handle);
    }
  } catch (error) {
    if (error instanceof Rejection) return refused(error.code, error.message, error.evidence);
    if (error instanceof SpadeError && error.boundary === "sandbox") return refused(error.code, `The hint could not be played: ${shorten(error.message)}`, {});
    throw error;
  }
}

/** Plays every literal reading on the probe seeds and the best one again on fresh seeds, so that chance among few options does not count. */
async function playHint(hint: string, context: GateContext): Promise<HintVerdict | undefined> {
  const { maxWinRate, freshSeeds } = context.config.hint;
  const readings = literalReadings(hint);
  const wins = (traces: readonly PlayTrace[]): number => traces.filter(({ won }) => won).length;
  const probed = await context.run(readings.flatMap((actions) => context.seeds.map((seed): Play => ({ seed, player: script(actions) }))));
  const counts = readings.map((_, i) => wins(probed.slice(i * context.seeds.length, (i + 1) * context.seeds.length)));
  const best = counts.indexOf(Math.max(...counts));
  if ((counts[best] ?? 0) <= maxWinRate * context.seeds.length) return undefined;
  const fresh = Array.from({ length: freshSeeds }, (_, i) => deriveSeed(context.seed, "hint", i));
  const traces = await context.run(fresh.map((seed): Play => ({ seed, player: script(readings[best] ?? []) })));
  const winner = traces.find(({ won }) => won);
  if (winner === undefined || wins(traces) <= maxWinRate * freshSeeds) return undefined;
  return refused("wins", `Doing what the hint says wins ${wins(traces)} of ${freshSeeds} plays without a look at the observations; at most ${maxWinRate} of them may.`, {
    seed: winner.seed,
    actions: winner.actions.map(shorten),
    expected: "a loss, since the observation was not read",
    got: outcome(winner),
  });
}

/** Readings of one action each that are tried at most. */
const maxSingles = 24;

/**
 * The action sequences a hint can be read as: the whole hint; its quoted or listed pieces, its clauses, numbers and
 * words, each kind in order; and each single number, piece, clause and word.
 */
function literalReadings(hint: string): string[][] {
  const tokens = textTokens(hint);
  const clauses = hint.split(/[,;:.\n]|\bthen\b|\band\b/i).map((clause) => clause.trim()).filter((clause) => clause !== "");
  const kinds = [listedOptions(hint), clauses, tokens.filter(isNumber), tokens.filter(isWord)];
  const singles = [...new Set([...(kinds[2] ?? []), ...(kinds[0] ?? []), ...(kinds[1] ?? []), ...(kinds[3] ?? [])])].slice(0, maxSingles);
  const readings = [[hint], ...kinds.filter((kind) => kind.length > 1), ...singles.map((single) => [single])];
  return [...new Map(readings.map((actions) => [actions.join("\n"), actions])).values()];
}
