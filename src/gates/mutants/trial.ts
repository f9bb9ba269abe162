import type { Clock } from "../../core/clock.ts";
import type { Extraction, Language, Program } from "../../core/environment.ts";
import { deriveSeed } from "../../core/seed.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { admit } from "../admit.ts";
import type { GateId, GatesConfig } from "../config.ts";
import type { ArchivedProgram } from "../novelty.ts";
import { rejectingGate } from "../record.ts";
import { isEquivalent } from "./equivalence.ts";
import type { MutationOperator } from "./operator.ts";

/** A program that the gates admit and of which mutants are made. */
export interface MutantBase {
  /** Names the seeds of the gates, of the original and of its mutants. */
  readonly name: string;
  readonly program: Program;
  /** Grounding document; absent: gate `grounded` is off. */
  readonly document?: string;
}

export interface TrialOptions {
  readonly sandbox: Sandbox;
  readonly config: GatesConfig;
  readonly seed: number;
  readonly lane?: number;
  /** Reads the program out of a reply. */
  readonly extract: (reply: string, language: Language) => Extraction;
  /** What gate `novelty` compares with. Default: nothing. */
  readonly archive?: readonly ArchivedProgram[];
  /** Measures `wallMsPerGate`. Default: the monotonic clock. */
  readonly clock?: Clock;
}

/**
 * What the gates said of a mutant. `equal`: it was admitted and shows no difference to its original; `incomparable`: it
 * was admitted and the original fails on the seeds of the comparison. Neither is scored.
 */
export type MutantVerdict = { readonly verdict: "rejected"; readonly gate: GateId; readonly code: string } | { readonly verdict: "admitted" | "equal" | "incomparable" };

/** Plants an operator's fault in a program and judges the mutant with its original's seeds; undefined where the operator does not apply. */
export async function tryMutant(operator: MutationOperator, base: MutantBase, options: TrialOptions): Promise<MutantVerdict | undefined> {
  const extraction = mutantOf(operator, base, options);
  if (extraction === undefined) return undefined;
  const rejected = await judge(base, extraction, options);
  if (rejected !== undefined || !extraction.ok) return rejected;
  const equal = await isEquivalent(base.program, extraction.program, options);
  return { verdict: equal === undefined ? "incomparable" : equal ? "equal" : "admitted" };
}

/** What the gates get to see of a mutant. */
function mutantOf(operator: MutationOperator, { name, program }: MutantBase, { seed, extract }: TrialOptions): Extraction | undefined {
  const text = operator.mutate(program, deriveSeed(seed, "mutant", operator.id, name));
  if (text === undefined || text === program.source) return undefined;
  if (operator.form === "reply") return extract(text, program.language);
  return { ok: true, program: { ...program, source: text }, repairs: [] };
}

/** The gate that rejects a program; undefined when it is admitted. */
export async function judge({ name, program, document }: MutantBase, extraction: Extraction, options: TrialOptions): Promise<Extract<MutantVerdict, { verdict: "rejected" }> | undefined> {
  const { config } = options;
  const grounded = { ...config.grounded, enabled: config.grounded.enabled && document !== undefined };
  const { record } = await admit({ id: name, text: program.source, extraction, document: document ?? "" }, { ...options, config: { ...config, grounded } });
  const rejected = rejectingGate(record);
  return rejected === undefined ? undefined : { verdict: "rejected", gate: rejected.id, code: rejected.code };
}
