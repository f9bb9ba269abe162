import type { AssessedDesign, AssessedPlay } from "./assessment.ts";

export interface Assessment {
  readonly designs: readonly AssessedDesign[];
  readonly plays: readonly AssessedPlay[];
}

const share = (part: number, whole: number): string => (whole === 0 ? "–" : (part / whole).toFixed(2));

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function tally(values: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
}

/** The assessment as Markdown, for the model card. */
export function assessmentReport({ designs, plays }: Assessment): string {
  return ["# Assessment", "Made by `node models/nano/assess.ts`; passages that no demonstration used, temperature 1 unless greedy.", designerReport(designs), agentReport(plays)].join("\n\n");
}

function designerReport(designs: readonly AssessedDesign[]): string {
  const admitted = designs.filter((design) => design.admitted);
  const known = admitted.filter(({ novel }) => novel !== undefined);
  const skills = tally(designs.map(({ skill }) => skill)).map(([skill, n]) => {
    const own = admitted.filter((design) => design.skill === skill);
    return [skill, String(n), share(own.length, n), tally(own.map(({ family }) => family ?? "?")).map(([family, count]) => `${family} ${count}`).join(", ")];
  });
  return [
    "## Designer",
    `${admitted.length} of ${designs.length} programs admitted (${share(admitted.length, designs.length)}); of the admitted, ${share(known.filter(({ novel }) => novel).length, known.length)} have a skeleton that no demonstration has.`,
    table(["skill", "designs", "admitted", "nearest families of the admitted"], skills),
    table(["rejected by", "designs"], tally(designs.flatMap(({ rejectedBy }) => rejectedBy ?? [])).map(([gate, n]) => [gate, String(n)])),
  ].join("\n\n");
}

function agentReport(plays: readonly AssessedPlay[]): string {
  const names = [...new Set(plays.map(({ family }) => family))];
  const levels = [1, 2, 3, 4];
  const rate = (keep: (play: AssessedPlay) => boolean): string => {
    const kept = plays.filter(keep);
    return share(kept.reduce((sum, { wins }) => sum + wins, 0), kept.reduce((sum, { episodes }) => sum + episodes, 0));
  };
  const cells = (family: string | undefined, greedy: boolean): string[] =>
    [...levels, undefined].map((level) =>
      (["plain", "hint"] as const).map((arm) => rate((play) => play.greedy === greedy && play.arm === arm && (family === undefined || play.family === family) && (level === undefined || play.level === level))).join(" / "),
    );
  return [
    "## Agent",
    "Win rates, plain / with hint, by family and level.",
    ...[false, true].filter((greedy) => plays.some((play) => play.greedy === greedy)).map((greedy) =>
      table([greedy ? "greedy" : "sampled", ...levels.map((level) => `level ${level}`), "all"], [...names.map((name) => [name, ...cells(name, greedy)]), ["all", ...cells(undefined, greedy)]]),
    ),
  ].join("\n\n");
}
