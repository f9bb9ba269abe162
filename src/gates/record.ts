import type { GateId } from "./config.ts";

/** Plain JSON. Never a wall time: equal candidates give equal records. */
export type Evidence = Readonly<Record<string, unknown>>;

export interface GateResult {
  readonly id: GateId;
  /** `off`: switched off; `not-run`: an earlier gate had rejected. */
  readonly verdict: "pass" | "reject" | "off" | "not-run";
  /** Stable reason: `pass`, `off`, `not-run`, a guest failure's code, or the gate's own. */
  readonly code: string;
  readonly message: string;
  readonly evidence: Evidence;
}

/** All that was decided about one candidate; lists every gate in order. */
export interface AdmissionRecord {
  /** The designer's reply. */
  readonly candidate: string;
  readonly verdict: "admitted" | "rejected";
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
