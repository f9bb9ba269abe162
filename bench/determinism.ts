/** Plays random cases of every bundled program in many ways and counts differing bytes. Run it: `node bench/main.ts determinism`. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Rng, deriveSeed } from "../src/core/seed.ts";
import { openSandbox } from "../src/sandbox/pool.ts";
import { bankPrograms, compareWays, drawCases, openTwice, type Difference } from "../src/sandbox/testing/determinism.ts";

const usage = "node bench/main.ts determinism [--cases 1000] [--seed 1] [--json]";
const casesAtOnce = 4;

/** What was played and found. `digest` is of all records: the same on every machine, platform and version of Node. */
interface DeterminismReport {
  readonly cases: number;
  readonly programs: number;
  readonly turns: number;
  readonly differences: readonly Difference[];
  readonly digest: string;
  readonly node: string;
}

/** Plays `count` cases, spread over all programs of the banks. */
async function benchDeterminism(count: number, seed: number): Promise<DeterminismReport> {
  const programs = bankPrograms(join(import.meta.dirname, "..", "environments"), ["easy", "good", "heldout"]);
  const sandbox = await openSandbox({ lanes: 2 });
  const digest = createHash("sha256");
  const differences: Difference[] = [];
  let [cases, turns] = [0, 0];
  try {
    for (let round = 0; cases < count; round++) {
      const program = programs[round % programs.length];
      if (program === undefined) throw new Error("there are no programs");
      const handles = await openTwice(sandbox, program);
      const drawn = await drawCases(handles[0], Math.min(casesAtOnce, count - cases), new Rng(deriveSeed(seed, "determinism", round)));
      const found = await compareWays(program.file, handles, drawn);
      differences.push(...found.differences);
      for (const record of found.records) digest.update(JSON.stringify([program.file, record]));
      cases += drawn.length;
      turns += found.records.reduce((sum, record) => sum + record.length - 1, 0);
      await Promise.all(handles.map((handle) => handle.close()));
    }
  } finally {
    await sandbox.close();
  }
  return { cases, programs: Math.min(programs.length, Math.ceil(count / casesAtOnce)), turns, differences, digest: digest.digest("hex"), node: process.version };
}

/** Measures and prints; exit code 1 when anything differs. */
export async function run(words: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...words], options: { cases: { type: "string", default: "1000" }, seed: { type: "string", default: "1" }, json: { type: "boolean", default: false }, help: { type: "boolean", default: false } } });
  if (values.help) {
    console.log(`Usage: ${usage}`);
    return;
  }
  const [cases, seed] = [Number(values.cases), Number(values.seed)];
  if (!Number.isInteger(cases) || cases < 1) throw new TypeError(`--cases must be a whole number of at least 1 (got "${values.cases}"). Usage: ${usage}`);
  if (!Number.isInteger(seed) || seed < 0) throw new TypeError(`--seed must be a whole number of at least 0 (got "${values.seed}"). Usage: ${usage}`);
  const report = await benchDeterminism(cases, seed);
  if (values.json) console.log(JSON.stringify(report));
  else console.log(describe(report));
  if (report.differences.length > 0) process.exitCode = 1;
}

function describe({ cases, programs, turns, differences, digest, node }: DeterminismReport): string {
  const ways = "alone twice, interleaved, in another child, after a fork, restored here and in another child, replayed";
  return [
    `${cases} cases of ${programs} programs, ${turns} turns, each ${ways}: ${differences.length} differences`,
    ...differences.slice(0, 10).map(({ file, way, play, expected, got }) => `  ${file}, seed ${play.seed}, ${way}: expected ${JSON.stringify(expected).slice(0, 300)}, got ${JSON.stringify(got).slice(0, 300)}`),
    `digest of all records (compare it between versions of Node): ${digest}, Node ${node}`,
  ].join("\n");
}
