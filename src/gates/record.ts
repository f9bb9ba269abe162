import type { GateId, GatesConfig } from "./config.ts";

/**
 * Plain JSON. Never a wall time: equal candidates give equal records. A rejection's evidence names, wherever the gate has
 * them, `seed`, `actions` (all that were taken, the telling one last), `expected` and `got`.
 */
export type Evidence = Readonly<Record<string, unknown>>;

export interface GateResult {
  readonly id: GateId;
  /** `off`: switched off; `not-run`: an earlier gate had rejected; `not-applicable`: there is nothing to judge, the message says why. */
  readonly verdict: "pass" | "reject" | "off" | "not-run" | "not-applicable";
  /** Stable reason: `pass`, `off`, `not-run`, `not-applicable`, a guest failure's code, or the gate's own. */
  readonly code: string;
  readonly message: string;
  readonly evidence: Evidence;
}

/** All that was decided about one candidate; lists every gate in order. */
export interface AdmissionRecord {
  /** The designer's reply. */
  readonly candidate: string;
  readonly verdict: "admitted" | "rejected";
  /** The profile under which it was judged: `foreign` is the weaker one. */
  readonly profile: GatesConfig["profile"];
  readonly gates: readonly GateResult[];
}

/** Thrown inside a gate to reject; caught only where gates are run (`admit.ts`). */
export class Rejection extends Error {
  readonly code: string;
  readonly evidence: Evidence;

  constructor(code: string, message: string, evidence: Evidence = {}) {
    super(message);
    this.name = "Rejection";
    this.code = code;
    this.evidence = evidence;
  }
}

/** The gate that rejected, if any. */
export function rejectingGate(record: AdmissionRecord): GateResult | undefined {
  return record.gates.find((gate) => gate.verdict === "reject");
}
