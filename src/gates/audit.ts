import type { Program } from "../core/environment.ts";
import { invariant } from "../core/errors.ts";
import type { GateContext } from "./context.ts";
import { outcome, script, shorten } from "./probe.ts";
import { type Evidence, Rejection } from "./record.ts";

/** What an auditor reads: the program and what a player sees of it first. */
export interface AuditTask {
  readonly program: Program;
  readonly resets: readonly { readonly seed: number; readonly observation: string }[];
  readonly maxTurns: number;
}

/** An action sequence that, by the text, ends otherwise than the checker says. */
export interface Demonstration {
  readonly seed: number;
  readonly actions: readonly string[];
  /** What the text promises for these actions. */
  readonly expected: "win" | "loss";
}

export interface AuditReport {
  /** Whether text and checker ask for the same, in the auditor's opinion. An opinion decides nothing. */
  readonly opinion: "agree" | "disagree";
  readonly reason: string;
  readonly demonstration?: Demonstration;
}

/** A model (or a script) that looks for a disagreement between a program's text and its checker. */
export interface Auditor {
  audit(task: AuditTask): Promise<AuditReport>;
}

/**
 * Rejects a program when the auditor finds text and checker in disagreement and its action sequence shows it on replay:
 * the checker does not decide as the text promises. Without such a sequence its opinion is only recorded.
 */
export async function audit(context: GateContext): Promise<Evidence> {
  const { program, maxTurns, seeds, config, auditor } = context;
  invariant(auditor !== undefined, "admit refuses an audit without an auditor");
  const observations = await context.observations();
  const resets = seeds.slice(0, config.audit.seeds).map((seed, i) => ({ seed, observation: observations[i] ?? "" }));
  const { opinion, reason, demonstration } = await auditor.audit({ program, resets, maxTurns });
  const evidence = { opinion, reason: shorten(reason) };
  if (opinion === "agree" || demonstration === undefined) return evidence;
  const { seed, actions, expected } = demonstration;
  if (actions.length === 0 || actions.length > maxTurns) return { ...evidence, shown: false, why: `the action sequence must have 1 to ${maxTurns} actions` };
  const [trace] = await context.run([{ seed, player: script(actions) }]);
  if (trace === undefined || trace.won === (expected === "win")) return { ...evidence, shown: false, why: "the checker decides as the text promises" };
  throw new Rejection("disagreement", `Text and checker disagree: ${shorten(reason)}`, { ...evidence, seed, actions: trace.actions.map(shorten), expected: `a ${expected}, by the text`, got: outcome(trace) });
}
