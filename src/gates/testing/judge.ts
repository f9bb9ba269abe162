import { admit, type AdmitOptions, type Admission } from "../admit.ts";
import { defaultGates, type GatesConfig } from "../config.ts";
import { rejectingGate } from "../record.ts";
import { bakeryDocument } from "./programs.ts";

/** Judges a Python program about the bakery by the default gates, with changes. */
export function judge(source: string, options: Pick<AdmitOptions, "sandbox"> & Partial<AdmitOptions> & { readonly gates?: Partial<GatesConfig> }): Promise<Admission> {
  const { gates = {}, ...rest } = options;
  const candidate = { id: "0.0.0", text: source, extraction: { ok: true as const, program: { language: "python" as const, source }, repairs: [] }, document: bakeryDocument };
  return admit(candidate, { config: { ...defaultGates, ...gates }, seed: 1, ...rest });
}

/** `admitted`, or the gate and code that rejected. */
export function verdictOf({ record }: Admission): string {
  const gate = rejectingGate(record);
  return gate === undefined ? "admitted" : `${gate.id}: ${gate.code}`;
}

/** Verdict of one gate in a record. */
export function gateOf({ record }: Admission, id: string): (typeof record.gates)[number] | undefined {
  return record.gates.find((gate) => gate.id === id);
}
