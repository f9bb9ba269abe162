/** Plays random cases of every bundled program in many ways, also under other versions of Node, and counts differing bytes. Run it: `node bench/main.ts determinism`. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import type { Program } from "../src/core/environment.ts";
import { Rng, deriveSeed } from "../src/core/seed.ts";
import { readBank } from "../src/gates/mutants/bank.ts";
import { openSandbox } from "../src/sandbox/pool.ts";
import { compareWays, drawCases, openTwice, type Difference } from "../src/sandbox/testing/determinism.ts";
import { restlessPrograms } from "../src/sandbox/testing/restless.ts";

const usage = "node bench/main.ts determinism [--cases 1000] [--seed 1] [--node PATH]... [--json]";
const casesAtOnce = 4;
/** Two of five rounds play TypeScript, of which there are fewer programs. */
const languages = ["python", "typescript", "python", "typescript", "python"] as const;

/** What was played and found under one Node. */
interface DeterminismReport {
  readonly cases: number;
  readonly typescriptCases: number;
  readonly programs: number;
  readonly turns: number;
  readonly failedTurns: number;
  readonly differences: readonly Difference[];
  /** Cases whose first play cost more or less fuel than a later one, and the largest difference in ticks. */
  readonly fuelDiffers: { readonly cases: number; readonly ticks: number };
  /** Of all records and their fuel: the same on every machine, platform and version of Node. */
  readonly digest: string;
  /** Of each round's records and fuel, with its program, to find what differs. */
  readonly rounds: readonly (readonly [program: string, digest: string])[];
  readonly seconds: number;
  readonly node: string;
  readonly bubblewrap: boolean;
  /** Of the interpreter image, built by the same Node. */
  readonly imageSha256: string;
}

interface Named {
  readonly name: string;
  readonly program: Program;
}

/** Programs by language: those of the banks, and those that ask for all that could differ. */
function programsOf(language: Program["language"]): readonly Named[] {
  const bank = readBank(join(import.meta.dirname, "..", "environments"), { foreign: true });
  return [...restlessPrograms, ...bank].filter(({ program }) => program.language === language);
}

/** Plays `count` cases, spread over all programs. */
async function benchDeterminism(count: number, seed: number): Promise<DeterminismReport> {
  const programs = { python: programsOf("python"), typescript: programsOf("typescript") };
  const next = { python: 0, typescript: 0 };
  const begin = performance.now();
  // An image of its own: one that another Node built would hide what gets into it from the host.
  const cacheDirectory = mkdtempSync(join(tmpdir(), "spade-determinism-"));
  const sandbox = await openSandbox({ lanes: 2, cacheDirectory });
  const differences: Difference[] = [];
  const rounds: [string, string][] = [];
  const spreads: number[] = [];
  let [cases, typescriptCases, turns, failedTurns] = [0, 0, 0, 0];
  try {
    for (let round = 0; cases < count; round++) {
      const language = languages[round % languages.length] ?? "python";
      const { name, program } = programs[language][next[language]++ % programs[language].length] as Named;
      const handles = await openTwice(sandbox, program);
      const drawn = await drawCases(handles[0], Math.min(casesAtOnce, count - cases), new Rng(deriveSeed(seed, "determinism", round)));
      const found = await compareWays(name, handles, drawn);
      await Promise.all(handles.map((handle) => handle.close()));
      differences.push(...found.differences);
      rounds.push([name, createHash("sha256").update(JSON.stringify([found.records, found.fuel])).digest("hex")]);
      spreads.push(...found.fuel.map((ticks) => Math.max(...ticks) - Math.min(...ticks)));
      cases += drawn.length;
      if (language === "typescript") typescriptCases += drawn.length;
      turns += found.records.reduce((sum, record) => sum + record.length - 1, 0);
      failedTurns += found.records.flat().filter((text) => text.startsWith('{"ok":false')).length;
    }
  } finally {
    await sandbox.close();
    rmSync(cacheDirectory, { recursive: true });
  }
  const digest = createHash("sha256").update(JSON.stringify(rounds)).digest("hex");
  const { node, bubblewrap, imageSha256 } = sandbox.isolation;
  const fuelDiffers = { cases: spreads.filter((ticks) => ticks > 0).length, ticks: Math.max(0, ...spreads.filter((ticks) => ticks > 0)) };
  return { cases, typescriptCases, programs: new Set(rounds.map(([name]) => name)).size, turns, failedTurns, differences, fuelDiffers, digest, rounds, seconds: Math.round((performance.now() - begin) / 1000), node, bubblewrap: bubblewrap.active, imageSha256 };
}

/** The same under another Node, in a process of its own. */
async function underNode(path: string, cases: number, seed: number): Promise<DeterminismReport> {
  const words = [join(import.meta.dirname, "main.ts"), "determinism", "--cases", String(cases), "--seed", String(seed), "--json"];
  const { stdout } = await promisify(execFile)(path, words, { maxBuffer: 2 ** 28 }).catch((error: unknown) => {
    // With differences it exits with 1, and says which.
    const { stdout: said = "" } = error as { readonly stdout?: string };
    if (!said.startsWith("{")) throw new Error(`--node ${path} could not run the cases; expected an executable Node of at least 22.18, which runs TypeScript.`, { cause: error });
    return { stdout: said };
  });
  return JSON.parse(stdout) as DeterminismReport;
}

/** Measures and prints; exit code 1 when anything differs. */
export async function run(words: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...words],
    options: { cases: { type: "string", default: "1000" }, seed: { type: "string", default: "1" }, node: { type: "string", multiple: true, default: [] }, json: { type: "boolean", default: false }, help: { type: "boolean", default: false } },
  });
  if (values.help) {
    console.log(`Usage: ${usage}`);
    return;
  }
  const [cases, seed] = [Number(values.cases), Number(values.seed)];
  if (!Number.isInteger(cases) || cases < 1) throw new TypeError(`--cases must be a whole number of at least 1 (got "${values.cases}"). Usage: ${usage}`);
  if (!Number.isInteger(seed) || seed < 0) throw new TypeError(`--seed must be a whole number of at least 0 (got "${values.seed}"). Usage: ${usage}`);
  const tell = (text: string): void => {
    if (!values.json) console.log(text);
  };
  const report = await benchDeterminism(cases, seed);
  tell(describe(report));
  const others: DeterminismReport[] = [];
  for (const path of values.node) {
    const other = await underNode(path, cases, seed);
    tell(`${describe(other)}\n${compare(report, other)}`);
    others.push(other);
  }
  if (values.json) console.log(JSON.stringify(others.length === 0 ? report : [report, ...others]));
  if ([report, ...others].some((one) => one.differences.length > 0 || one.digest !== report.digest || one.imageSha256 !== report.imageSha256)) process.exitCode = 1;
}

function describe({ cases, typescriptCases, programs, turns, failedTurns, differences, fuelDiffers, digest, seconds, node, bubblewrap, imageSha256 }: DeterminismReport): string {
  const ways = "alone twice, interleaved, in another child, after a fork, restored here and in another child, replayed";
  return [
    `Node ${node}, ${bubblewrap ? "inside" : "without"} bubblewrap, ${seconds} s: ${cases} cases (${typescriptCases} in TypeScript) of ${programs} programs, ${turns} turns (${failedTurns} failed), each ${ways}: ${differences.length} differences`,
    ...differences.slice(0, 10).map(({ program, way, play: { seed, actions }, expected, got }) => {
      const turn = expected.findIndex((text, i) => text !== got[i]);
      return `  ${program}, seed ${seed}, actions ${JSON.stringify(actions)}, ${way}: at turn ${turn} expected ${String(expected[turn]).slice(0, 600)}, got ${String(got[turn]).slice(0, 600)}`;
    }),
    `  fuel of the first play differs from later ones in ${fuelDiffers.cases} cases, by at most ${fuelDiffers.ticks} ticks`,
    `  digest of all records and their fuel: ${digest}; of the interpreter image: ${imageSha256}`,
  ].join("\n");
}

function compare(report: DeterminismReport, other: DeterminismReport): string {
  const differing = new Set(report.rounds.filter(([, digest], i) => digest !== other.rounds[i]?.[1]).map(([program]) => program));
  const images = report.imageSha256 === other.imageSha256 ? "the same image" : "different images";
  return differing.size === 0 ? `Node ${report.node} and ${other.node}: the same bytes, ${images}` : `Node ${report.node} and ${other.node} differ in: ${[...differing].join(", ")}; ${images}`;
}
