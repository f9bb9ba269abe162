import type { Program } from "../../src/core/environment.ts";
import { SpadeError } from "../../src/core/errors.ts";
import { overLanes } from "../../src/gates/over-lanes.ts";
import type { ProgramFacts, Sandbox } from "../../src/sandbox/sandbox.ts";

/** A program that a demonstration contains. */
export interface DemonstratedProgram {
  readonly family: string;
  readonly source: string;
}

/** Content of a model's `demonstrations.json`, read by `selfplay/program-kinds.ts`. */
export interface DemonstrationSummary {
  readonly version: 1;
  /** Twelve hexadecimal digits of each distinct skeleton digest, sorted, without separator. */
  readonly skeletons: string;
  /** Per family: the share of its programs that have a shingle; rare shingles are left out. */
  readonly families: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const digits = 12;
const leastShare = 0.05;

/** What the sandbox says of demonstrated programs, as skeletons and shingle shares. Uses all lanes. @throws internal.demonstration when one does not load */
export async function summariseDemonstrations(programs: readonly DemonstratedProgram[], sandbox: Sandbox): Promise<DemonstrationSummary> {
  const skeletons = new Set<string>();
  const counts = new Map<string, { programs: number; readonly shingles: Map<number, number> }>();
  await overLanes(sandbox.lanes, programs, async (program, lane) => {
    const { skeleton, shingles } = await factsOf({ language: "python", source: program.source }, sandbox, lane);
    skeletons.add(skeleton.slice(0, digits));
    const family = counts.get(program.family) ?? { programs: 0, shingles: new Map<number, number>() };
    counts.set(program.family, family);
    family.programs++;
    for (const shingle of shingles) family.shingles.set(shingle, (family.shingles.get(shingle) ?? 0) + 1);
  });
  const families = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, family]) => [name, shares(family)] as const);
  return { version: 1, skeletons: [...skeletons].sort().join(""), families: Object.fromEntries(families) };
}

async function factsOf(program: Program, sandbox: Sandbox, lane: number): Promise<ProgramFacts> {
  const opened = await sandbox.open(program, { lane });
  if (!opened.ok) {
    throw new SpadeError("internal.demonstration", `A demonstrated program does not load (${opened.failure.code}: ${opened.failure.message}):\n${program.source}\nCorrect its family.`);
  }
  await opened.value.close();
  return opened.value.facts;
}

function shares({ programs, shingles }: { readonly programs: number; readonly shingles: ReadonlyMap<number, number> }): Record<string, number> {
  const common = [...shingles].map(([shingle, count]) => [shingle, count / programs] as const).filter(([, share]) => share >= leastShare);
  return Object.fromEntries(common.sort(([a], [b]) => a - b).map(([shingle, share]) => [String(shingle), Math.round(share * 1000) / 1000]));
}
