import type { RunStore } from "../storage/run-store.ts";

/** One gate, as candidates went through it. */
export interface FunnelGate {
  readonly gate: string;
  /** Candidates that it rejected, by code. */
  readonly rejected: Readonly<Record<string, number>>;
  /** Candidates that passed it. */
  readonly left: number;
}

/** From tasks to environments. */
export interface Funnel {
  readonly tasks: number;
  readonly candidates: number;
  /** In order; gates that no candidate reached are left out. */
  readonly gates: readonly FunnelGate[];
  readonly admitted: number;
  /** Admitted environments with a hint that may be used. */
  readonly hinted: number;
}

/** Counts what became of all candidates of a record. */
export function readFunnel(store: RunStore): Funnel {
  const environments = [...store.rows("environments")];
  const gates = new Map<string, { position: number; rejected: Record<string, number>; left: number }>();
  for (const { gate: name, position, passed, code = "" } of store.rows("gateResults")) {
    const gate = gates.get(name) ?? { position, rejected: {}, left: 0 };
    gates.set(name, gate);
    gate.position = Math.max(gate.position, position);
    if (passed) gate.left += 1;
    else gate.rejected[code] = (gate.rejected[code] ?? 0) + 1;
  }
  const inOrder = [...gates].sort(([, a], [, b]) => a.position - b.position);
  const admitted = environments.filter((row) => row.admitted);
  return {
    tasks: [...store.rows("designTasks")].length,
    candidates: environments.length,
    gates: inOrder.map(([gate, { rejected, left }]) => ({ gate, rejected, left })),
    admitted: admitted.length,
    hinted: admitted.filter(({ hint }) => hint !== undefined).length,
  };
}
