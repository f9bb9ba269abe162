import { type Clock, monotonicClock } from "../../core/clock.ts";
import type { Language } from "../../core/environment.ts";
import { SpadeError } from "../../core/errors.ts";
import { deriveSeed, Rng } from "../../core/seed.ts";
import type { GateId } from "../config.ts";
import type { MutationOperator } from "./operator.ts";
import { overLanes } from "../over-lanes.ts";
import { judge, type MutantBase, type TrialOptions, tryMutant } from "./trial.ts";
import { type Share, shareOf } from "./share.ts";

/** Limits that the gates must keep, as shares. */
export const benchTargets = { falseAccept: 0.01, falseAcceptPerOperator: 0.05, falseReject: 0.02 };

/** Languages of the bank, in the order in which they are told. */
export const languages: readonly Language[] = ["python", "typescript"];

export interface BenchOptions extends Pick<TrialOptions, "sandbox" | "config" | "seed" | "extract"> {
  readonly bank: readonly MutantBase[];
  readonly operators: readonly MutationOperator[];
  /** Mutants that are scored per operator and language, each of another program (fewer where there are not so many). */
  readonly programsPerOperator: number;
  /** Default: the monotonic clock. */
  readonly clock?: Clock;
  /** Verdicts of an earlier bench with equal options and code; new ones are added. Default: none are kept. */
  readonly journal?: VerdictJournal;
  /** Called with each operator's result, in the order of their ends. */
  readonly onDone?: (result: OperatorResult) => void;
}

/** Keeps verdicts by the name of operator and program. */
export interface VerdictJournal {
  readonly get: (key: string) => unknown;
  readonly put: (key: string, verdict: unknown) => void;
}

/** Mutants admitted among those that differ from their original, by language. */
export type ByLanguage = Readonly<Record<Language, Share>>;

/** What became of the mutants of one operator. */
export interface OperatorResult {
  readonly operator: Pick<MutationOperator, "id" | "fault" | "kind">;
  /** Over both languages. */
  readonly falseAccept: Share;
  readonly byLanguage: ByLanguage;
  /** Mutants without a difference to their original: not scored. */
  readonly equivalent: number;
  /** Mutants rejected by each gate. */
  readonly caughtBy: Readonly<Partial<Record<GateId, number>>>;
  /** Programs whose mutant was admitted. */
  readonly admitted: readonly string[];
}

export interface BenchResult {
  readonly operators: readonly OperatorResult[];
  /** Over all mutants of executable operators. */
  readonly executable: Share;
  readonly executableByLanguage: ByLanguage;
  readonly semantic: Share;
  readonly falseReject: Share;
  readonly falseRejectByLanguage: ByLanguage;
  /** Programs of the bank that were rejected, with gate and code. */
  readonly rejected: readonly { readonly name: string; readonly gate: GateId; readonly code: string }[];
  /** Programs judged, mutants and originals, per second of the whole bench; comparisons with originals included, verdicts of a journal not. */
  readonly programsPerSecond: number;
  /** The targets that are missed, in words. Empty: all are kept. */
  readonly missed: readonly string[];
}

/**
 * Judges the bank, plants each operator's fault in programs that were admitted, and judges those. Equal options give
 * equal results but for the speed, whatever the number of lanes.
 * @throws gate.original when a program of the bank fails while it is compared with its mutant
 */
export async function benchGates(options: BenchOptions): Promise<BenchResult> {
  const { bank, operators, sandbox, clock = monotonicClock } = options;
  const started = clock();
  let judged = 0;
  const once: Once = async (key, work) => {
    const known = options.journal?.get(key) as { readonly verdict?: never } | undefined;
    if (known !== undefined) return known.verdict;
    const verdict = await work();
    if (verdict !== undefined || key.startsWith("original ")) judged++;
    options.journal?.put(key, verdict === undefined ? {} : { verdict });
    return verdict;
  };
  const verdicts = await overLanes(sandbox.lanes, bank, (base, lane) => once(`original ${base.name}`, () => judge(base, { ok: true, program: base.program, repairs: [] }, { ...options, lane })));
  const rejected = bank.flatMap(({ name }, i) => {
    const verdict = verdicts[i];
    return verdict === undefined ? [] : [{ name, gate: verdict.gate, code: verdict.code }];
  });
  const sound = bank.filter((_, i) => verdicts[i] === undefined);
  const results = await overLanes(sandbox.lanes, operators, async (operator, lane) => {
    const result = await benchOperator(operator, sound, { ...options, lane, once });
    options.onDone?.(result);
    return result;
  });
  const shares = totals(results, bank, rejected);
  return { operators: results, ...shares, rejected, programsPerSecond: judged / ((clock() - started) / 1000), missed: missedTargets(results, shares) };
}

/** Does the work unless its result is known. */
type Once = <T>(key: string, work: () => Promise<T | undefined>) => Promise<T | undefined>;

type Totals = Pick<BenchResult, "executable" | "executableByLanguage" | "semantic" | "falseReject" | "falseRejectByLanguage">;

function totals(results: readonly OperatorResult[], bank: readonly MutantBase[], rejected: BenchResult["rejected"]): Totals {
  const of = (kind: MutationOperator["kind"]): readonly OperatorResult[] => results.filter(({ operator }) => operator.kind === kind);
  const executable = of("executable");
  const refused = new Set(rejected.map(({ name }) => name));
  return {
    executable: pooled(executable.map(({ falseAccept }) => falseAccept)),
    executableByLanguage: perLanguage((language) => pooled(executable.map(({ byLanguage }) => byLanguage[language]))),
    semantic: pooled(of("semantic").map(({ falseAccept }) => falseAccept)),
    falseReject: shareOf(rejected.length, bank.length),
    falseRejectByLanguage: perLanguage((language) => {
      const own = bank.filter(({ program }) => program.language === language);
      return shareOf(own.filter(({ name }) => refused.has(name)).length, own.length);
    }),
  };
}

function perLanguage(share: (language: Language) => Share): ByLanguage {
  return { python: share("python"), typescript: share("typescript") };
}

function pooled(shares: readonly Share[]): Share {
  return shareOf(shares.reduce((sum, { count }) => sum + count, 0), shares.reduce((sum, { n }) => sum + n, 0));
}

function missedTargets(results: readonly OperatorResult[], { executable, falseReject }: Pick<BenchResult, "executable" | "falseReject">): string[] {
  const over = (share: Share, limit: number): boolean => share.rate !== undefined && share.rate > limit;
  const { falseAccept, falseAcceptPerOperator, falseReject: rejectLimit } = benchTargets;
  return [
    ...(over(executable, falseAccept) ? [`false accept over all executable operators is above ${falseAccept}`] : []),
    ...results.filter((result) => result.operator.kind === "executable" && over(result.falseAccept, falseAcceptPerOperator)).map(({ operator }) => `false accept of ${operator.id} is above ${falseAcceptPerOperator}`),
    ...(over(falseReject, rejectLimit) ? [`false reject is above ${rejectLimit}`] : []),
  ];
}

/** Mutants of one operator, drawn from the bank until enough of each language are scored. */
async function benchOperator(operator: MutationOperator, bank: readonly MutantBase[], { once, ...options }: BenchOptions & { readonly lane: number; readonly once: Once }): Promise<OperatorResult> {
  const caughtBy: Partial<Record<GateId, number>> = {};
  const admitted: MutantBase[] = [];
  const scored = { python: 0, typescript: 0 };
  let equivalent = 0;
  for (const base of new Rng(deriveSeed(options.seed, "bench", operator.id)).shuffle(bank)) {
    const { language } = base.program;
    if (scored[language] >= options.programsPerOperator) continue;
    const verdict = await once(`${operator.id} ${base.name}`, () => tryMutant(operator, base, options));
    if (verdict === undefined) continue;
    if (verdict.verdict === "incomparable") throw new SpadeError("gate.original", `The program ${base.name} fails while it is compared with its mutant by ${operator.id}; a program of the bank must not.`);
    if (verdict.verdict === "equal") {
      equivalent++;
      continue;
    }
    if (verdict.verdict === "rejected") caughtBy[verdict.gate] = (caughtBy[verdict.gate] ?? 0) + 1;
    else admitted.push(base);
    scored[language]++;
  }
  const byLanguage = perLanguage((language) => shareOf(admitted.filter(({ program }) => program.language === language).length, scored[language]));
  const { id, fault, kind } = operator;
  return { operator: { id, fault, kind }, falseAccept: pooled(languages.map((language) => byLanguage[language])), byLanguage, equivalent, caughtBy, admitted: admitted.map(({ name }) => name) };
}
