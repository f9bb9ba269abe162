import { type Clock, monotonicClock } from "../../core/clock.ts";
import type { Extraction, Program } from "../../core/environment.ts";
import { deriveSeed, Rng } from "../../core/seed.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { admit, type Candidate } from "../admit.ts";
import type { GateId, GatesConfig } from "../config.ts";
import { rejectingGate } from "../record.ts";
import type { BankProgram } from "./bank.ts";
import { isEquivalent } from "./equivalence.ts";
import type { MutationOperator } from "./operator.ts";
import { type Share, wilson } from "./wilson.ts";

/** Limits that the gates must keep, as shares. */
export const benchTargets = { falseAccept: 0.01, falseAcceptPerOperator: 0.05, falseReject: 0.02 };

export interface BenchOptions {
  readonly sandbox: Sandbox;
  readonly config: GatesConfig;
  readonly seed: number;
  readonly bank: readonly BankProgram[];
  readonly operators: readonly MutationOperator[];
  /** Mutants that are scored per operator, on as many programs (fewer where it does not apply). */
  readonly programsPerOperator: number;
  /** Reads the program out of a reply. */
  readonly extract: (reply: string) => Extraction;
  /** Default: the monotonic clock. */
  readonly clock?: Clock;
  /** Called with each operator's result, in the order of their ends. */
  readonly onDone?: (result: OperatorResult) => void;
}

/** What became of the mutants of one operator. */
export interface OperatorResult {
  readonly operator: Pick<MutationOperator, "id" | "fault" | "kind">;
  /** Mutants that were admitted, among those that differ from their original. */
  readonly falseAccept: Share;
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
  readonly semantic: Share;
  readonly falseReject: Share;
  /** Programs of the bank that were rejected, with gate and code. */
  readonly rejected: readonly { readonly name: string; readonly gate: GateId; readonly code: string }[];
  /** Programs judged, mutants and originals, per second of the whole bench; comparisons with originals included. */
  readonly programsPerSecond: number;
  /** The targets that are missed, in words. Empty: all are kept. */
  readonly missed: readonly string[];
}

/**
 * Judges the bank, plants each operator's fault in programs that were admitted, and judges those. Equal options give
 * equal results but for the speed, whatever the number of lanes.
 */
export async function benchGates(options: BenchOptions): Promise<BenchResult> {
  const { bank, operators, sandbox, clock = monotonicClock } = options;
  const started = clock();
  const verdicts = await overLanes(sandbox.lanes, bank, (base, lane) => judge(base, { ok: true, program: base.program, repairs: [] }, options, lane));
  const rejected = bank.flatMap(({ name }, i) => (verdicts[i] === undefined ? [] : [{ name, ...verdicts[i] }]));
  const sound = bank.filter((_, i) => verdicts[i] === undefined);
  const results = await overLanes(sandbox.lanes, operators, async (operator, lane) => {
    const result = await benchOperator(operator, sound, options, lane);
    options.onDone?.(result);
    return result;
  });
  const total = (kind: MutationOperator["kind"]): Share => {
    const shares = results.filter(({ operator }) => operator.kind === kind).map(({ falseAccept }) => falseAccept);
    return wilson(shares.reduce((sum, { count }) => sum + count, 0), shares.reduce((sum, { n }) => sum + n, 0));
  };
  const shares = { executable: total("executable"), semantic: total("semantic"), falseReject: wilson(rejected.length, bank.length) };
  const judged = bank.length + results.reduce((sum, { falseAccept, equivalent }) => sum + falseAccept.n + equivalent, 0);
  return { operators: results, ...shares, rejected, programsPerSecond: judged / ((clock() - started) / 1000), missed: missedTargets(results, shares) };
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

/** Mutants of one operator, drawn from the bank until enough are scored. */
async function benchOperator(operator: MutationOperator, bank: readonly BankProgram[], options: BenchOptions, lane: number): Promise<OperatorResult> {
  const caughtBy: Partial<Record<GateId, number>> = {};
  const admitted: string[] = [];
  let equivalent = 0;
  let scored = 0;
  for (const base of new Rng(deriveSeed(options.seed, "bench", operator.id)).shuffle(bank)) {
    if (scored >= options.programsPerOperator) break;
    const extraction = mutantOf(operator, base, options);
    if (extraction === undefined) continue;
    const verdict = await judge(base, extraction, options, lane);
    if (verdict !== undefined) caughtBy[verdict.gate] = (caughtBy[verdict.gate] ?? 0) + 1;
    else if (extraction.ok && (await isEquivalent(base.program, extraction.program, { ...options, lane }))) {
      equivalent++;
      continue;
    } else admitted.push(base.name);
    scored++;
  }
  const { id, fault, kind } = operator;
  return { operator: { id, fault, kind }, falseAccept: wilson(admitted.length, scored), equivalent, caughtBy, admitted };
}

/** What the gates get to see of a mutant; undefined where the operator does not apply. */
function mutantOf(operator: MutationOperator, { name, program }: BankProgram, { seed, extract }: BenchOptions): Extraction | undefined {
  const text = operator.mutate(program, deriveSeed(seed, "mutant", operator.id, name));
  if (text === undefined || text === program.source) return undefined;
  if (operator.form === "reply") return extract(text);
  const mutant: Program = { ...program, source: text };
  return { ok: true, program: mutant, repairs: [] };
}

/** The gate that rejects a program; undefined when it is admitted. A mutant is judged with its original's seeds. */
async function judge({ name, program, document }: BankProgram, extraction: Extraction, options: BenchOptions, lane: number): Promise<{ gate: GateId; code: string } | undefined> {
  const { sandbox, seed } = options;
  const candidate: Candidate = { id: name, text: program.source, extraction, document: document ?? "" };
  const config: GatesConfig = { ...options.config, grounded: { ...options.config.grounded, enabled: document !== undefined } };
  const rejected = rejectingGate((await admit(candidate, { sandbox, config, seed, lane })).record);
  return rejected === undefined ? undefined : { gate: rejected.id, code: rejected.code };
}

/** Maps items in order of taking, one at a time per lane. */
async function overLanes<T, R>(lanes: number, items: readonly T[], work: (item: T, lane: number) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(items.length);
  const queue = items.entries();
  const worker = async (lane: number): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item, lane);
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => worker(lane)));
  return results;
}
