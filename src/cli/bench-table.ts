import { type BenchResult, type ByLanguage, languages, type OperatorResult } from "../gates/mutants/bench.ts";
import type { MutationOperator } from "../gates/mutants/operator.ts";
import type { Share } from "../gates/mutants/share.ts";
import { percentage, shareText, table } from "./format.ts";

const titles = { executable: "Faults that execution can reveal", semantic: "Faults between text and code, which no execution reveals" } as const;
const names = { python: "Python", typescript: "TypeScript" } as const;
const heading = ["operator", "admitted", "n", ...languages.map((language) => names[language]), "rate", "95 % interval", "equal", "most caught by"];

/** The result of `spade gate bench` for a terminal. */
export function benchText(result: BenchResult): string {
  const part = (kind: MutationOperator["kind"]): string[] => {
    const rows = rowsOf(result, kind);
    return rows.length === 0 ? [] : [titles[kind], table([heading, ...rows]), ""];
  };
  return [...part("executable"), ...part("semantic"), ...summary(result), `${result.programsPerSecond.toFixed(2)} programs per second.`].join("\n");
}

/** The result as Markdown, for `docs/gates.md`. `provenance` tells when, how and where it was measured. */
export function benchMarkdown(result: BenchResult, provenance: string): string {
  const part = (kind: MutationOperator["kind"]): string[] => [`**${titles[kind]}**`, "", markdownTable([heading, ...rowsOf(result, kind).map(([id = "", ...cells]) => [faultOf(result, id), ...cells])]), ""];
  return [provenance, "", ...part("executable"), ...part("semantic"), ...summary(result).map((line) => `* ${line.trim()}`)].join("\n");
}

function rowsOf(result: BenchResult, kind: MutationOperator["kind"]): string[][] {
  const own = result.operators.filter(({ operator }) => operator.kind === kind);
  if (own.length === 0) return [];
  const all = kind === "executable" ? shareCells(result.executable, result.executableByLanguage) : shareCells(result.semantic);
  return [...own.map(operatorRow), ["all", ...all, String(own.reduce((sum, { equivalent }) => sum + equivalent, 0)), ""]];
}

function operatorRow({ operator, falseAccept, byLanguage, equivalent, caughtBy }: OperatorResult): string[] {
  const most = Object.entries(caughtBy).sort((a, b) => b[1] - a[1])[0];
  return [operator.id, ...shareCells(falseAccept, byLanguage), String(equivalent), most === undefined ? "–" : `${most[0]} ${most[1]}`];
}

function shareCells({ count, n, rate, low, high }: Share, byLanguage?: ByLanguage): string[] {
  const cells = languages.map((language) => (byLanguage === undefined ? "" : `${byLanguage[language].count}/${byLanguage[language].n}`));
  return [String(count), String(n), ...cells, percentage(rate), rate === undefined ? "–" : `[${percentage(low)}, ${percentage(high)}]`];
}

function summary(result: BenchResult): string[] {
  const { executable, executableByLanguage, falseReject, falseRejectByLanguage, rejected, missed, operators } = result;
  const each = (shares: ByLanguage): string => languages.map((language) => `${names[language]} ${shareText(shares[language])}`).join("; ");
  return [
    `False accept of executable faults: ${shareText(executable)}. ${each(executableByLanguage)}.`,
    `False reject of good programs: ${shareText(falseReject)}. ${each(falseRejectByLanguage)}.`,
    ...rejected.map(({ name, gate, code }) => `  ${name}: ${gate} (${code})`),
    ...operators.filter(({ operator, admitted }) => operator.kind === "executable" && admitted.length > 0).map(({ operator, admitted }) => `Admitted with ${operator.id} (${operator.fault}): ${admitted.join(", ")}`),
    missed.length === 0 ? "All targets are kept." : `Missed: ${missed.join("; ")}.`,
  ];
}

/** An operator's id with its fault in words. */
function faultOf({ operators }: BenchResult, id: string): string {
  const found = operators.find(({ operator }) => operator.id === id);
  return found === undefined ? id : `\`${id}\`: ${found.operator.fault}`;
}

function markdownTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}
