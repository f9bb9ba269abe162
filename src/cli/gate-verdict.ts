import type { Language } from "../core/environment.ts";
import type { Admission } from "../gates/admit.ts";
import { type GateId, gateIds, type GatesConfig } from "../gates/config.ts";
import { type GateResult, rejectingGate } from "../gates/record.ts";
import { remedyOf } from "../gates/remedy.ts";
import { decimal, table } from "./format.ts";

/** What `spade gate` found. */
export interface Judgement {
  /** The file or folder that was asked for. */
  readonly path: string;
  readonly isFolder: boolean;
  readonly config: GatesConfig;
  readonly seed: number;
  /** Path of the grounding document, if one was given. */
  readonly document?: string;
  readonly files: readonly { readonly file: string; readonly admission: Admission }[];
}

/** The judgement as plain JSON: every file with every gate and its evidence, and the funnel. */
export function judgementJson({ config, seed, document, files }: Judgement): object {
  return {
    profile: config.profile,
    seed,
    ...(document === undefined ? {} : { document }),
    files: files.map(({ file, admission: { record, program, trivialWinRate } }) => {
      const rejected = rejectingGate(record);
      return { file, verdict: record.verdict, ...(rejected === undefined ? { trivialWinRate } : { rejected: { ...rejected, remedy: remedyOf(rejected, program?.language) } }), gates: record.gates };
    }),
    funnel: funnel(files.map(({ admission }) => admission)),
  };
}

/** The judgement for a person: one file in full; a folder as a line per file and the funnel. */
export function judgementText(judgement: Judgement): string {
  const { files, isFolder } = judgement;
  const [first] = files;
  if (!isFolder && first !== undefined) return [...fileText(first.file, first.admission), "", ...notes(judgement)].join("\n");
  const admissions = files.map(({ admission }) => admission);
  const admitted = admissions.filter(({ record }) => record.verdict === "admitted").length;
  return [...files.map(({ file, admission }) => fileLine(file, admission)), "", funnelTable(admissions, judgement.config), "", `${admitted} of ${files.length} admitted.`, ...notes(judgement)].join("\n");
}

function fileText(file: string, { record, program, trivialWinRate }: Admission): string[] {
  const rejected = rejectingGate(record);
  const head = rejected === undefined ? [`${file}: admitted (best trivial policy wins ${decimal(trivialWinRate)})`] : [`${file}: rejected by gate ${rejected.id} (${rejected.code})`, ...reasons(rejected, program?.language).map(([name, text]) => `  ${name.padEnd(8)}  ${text}`)];
  return [...head, "", ...byVerdict(record.gates)];
}

/** Why a gate rejected, as named lines: only what its evidence has. */
function reasons(rejected: GateResult, language?: Language): [string, string][] {
  const { seed, actions, expected, got } = rejected.evidence;
  const lines: [string, unknown][] = [
    ["why", rejected.message],
    ["seed", seed],
    ["action", Array.isArray(actions) ? actionsText(actions) : undefined],
    ["expected", expected],
    ["got", got],
    ["remedy", remedyOf(rejected, language)],
  ];
  return lines.flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, printable(typeof value === "string" ? value : JSON.stringify(value))]]));
}

/** The last actions, each quoted: the telling one stands last. */
function actionsText(actions: readonly unknown[]): string {
  const shown = actions.slice(-8).map((action) => JSON.stringify(action));
  return [...(shown.length < actions.length ? [`… ${actions.length - shown.length} more`] : []), ...shown].join(", ") || "none";
}

function byVerdict(gates: readonly GateResult[]): string[] {
  const of = (verdict: GateResult["verdict"], text: (gate: GateResult) => string): string => gates.filter((gate) => gate.verdict === verdict).map(text).join(", ");
  const lines = [
    ["passed", of("pass", ({ id }) => id)],
    ["not applicable", of("not-applicable", ({ id, message }) => `${id} (${printable(message)})`)],
    ["off", of("off", ({ id }) => id)],
    ["not run", of("not-run", ({ id }) => id)],
  ];
  return lines.flatMap(([name = "", ids = ""]) => (ids === "" ? [] : [`${name}: ${ids}`]));
}

function fileLine(file: string, { record }: Admission): string {
  const rejected = rejectingGate(record);
  if (rejected === undefined) return `admitted  ${file}`;
  return `rejected  ${file}  ${rejected.id} (${rejected.code}): ${printable(rejected.message)}`;
}

interface FunnelRow {
  readonly gate: GateId;
  readonly rejected: number;
  /** Candidates left after this gate. */
  readonly left: number;
}

/** How many candidates each gate rejected and left. */
function funnel(admissions: readonly Admission[]): FunnelRow[] {
  const rejectedBy = admissions.map(({ record }) => rejectingGate(record)?.id);
  let left = admissions.length;
  return gateIds.map((gate) => {
    const rejected = rejectedBy.filter((id) => id === gate).length;
    left -= rejected;
    return { gate, rejected, left };
  });
}

function funnelTable(admissions: readonly Admission[], config: GatesConfig): string {
  const isOff = (gate: GateId): boolean => gate !== "extract" && gate !== "parse" && gate !== "load" && !config[gate].enabled;
  return table([["gate", "rejected", "left"], ...funnel(admissions).map(({ gate, rejected, left }) => [gate, isOff(gate) ? "off" : String(rejected), String(left)])]);
}

/** What the reader must know to weigh the verdict. */
function notes({ config, document }: Judgement): string[] {
  return [
    ...(document === undefined ? ["Gate grounded is off: no --document was given."] : []),
    ...(config.profile === "foreign" ? ["Profile foreign, the weaker one: gates solvable and necessary excuse a missing or free-text solution()."] : []),
  ];
}

/** Text of a hostile program made safe for a terminal: control characters are shown as escapes. */
function printable(text: string): string {
  return text.replaceAll(/\p{C}/gu, (char) => (char === "\n" ? " ⏎ " : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`));
}
