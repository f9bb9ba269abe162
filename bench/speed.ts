/** Our sandbox beside plain CPython doing what the reference does: one paired bench over the hand-written programs. Run it: `node bench/main.ts speed`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type GoodProgram, readGoodBank } from "../src/gates/good-bank.ts";
import { readBank } from "../src/gates/mutants/bank.ts";
import { openProgram } from "../src/sandbox/test-sandbox.ts";
import { NativeHarness } from "./native.ts";
import { type GatePairs, measureGates, measureMemory, measureProgram, median, openPatientSandbox, type Pair, type ProgramPairs, type Sides, type Subject } from "./speed-parts.ts";

const usage = "node bench/main.ts speed [--rounds 3] [--programs 100] [--instances 1000] [--python python3] [--json]";
const environments = join(import.meta.dirname, "..", "environments");
const memoryPrograms = 3;

/** What is measured and how much of it. */
export interface SpeedOptions {
  /** Times each program is measured; the side that goes first alternates. */
  readonly rounds: number;
  /** Programs at most, drawn evenly from the banks. */
  readonly programs: number;
  /** Instances of the memory measure. */
  readonly instances: number;
  readonly python: string;
  /** Where the interpreter image is kept; default: the user's cache. */
  readonly cacheDirectory?: string;
}

/** One line of the table: medians of both sides, and the median and the middle half of the pairs' ratios. */
export interface SpeedRow {
  readonly measure: string;
  readonly unit: string;
  readonly pairs: number;
  readonly ours: number;
  readonly native: number;
  /** As the target has it: for speeds and starts, how many times faster ours is; for gates and memory, how many times more it takes. */
  readonly ratio: number;
  readonly quartiles: readonly [number, number];
  /** The same ratio of processor time, in all processes of a side; NaN where it is not known. */
  readonly cpuRatio: number;
  readonly target?: string;
}

/** The table, and what is needed to judge it. */
export interface SpeedReport {
  readonly rows: readonly SpeedRow[];
  readonly programs: number;
  readonly rounds: number;
  /** Programs of which both sides observed the same, byte for byte. */
  readonly sameTraces: number;
  /** Steps of all gates on a program, median. */
  readonly gateSteps: number;
  readonly python: string;
  readonly poolWorkers: number;
  readonly node: string;
}

/** Measures everything. @throws Error when there is no Python to compare with. */
export async function benchSpeed(options: SpeedOptions): Promise<SpeedReport> {
  const harness = await NativeHarness.start(options.python);
  const sandbox = await openPatientSandbox(options.cacheDirectory);
  try {
    const subjects = evenly(readBank(environments).flatMap(({ name, program }) => (program.language === "python" ? [{ file: name, source: program.source }] : [])), options.programs);
    const bank = readGoodBank(join(environments, "good")).filter(({ program }) => program.language === "python");
    const neighbour = await openProgram(sandbox, readFileSync(join(environments, "easy", "ledger.py"), "utf8"));
    const measured: ProgramPairs[] = [];
    const gates: GatePairs[] = [];
    for (let round = 0; round < options.rounds; round++) {
      for (const [i, subject] of subjects.entries()) {
        const sides: Sides = { sandbox, harness, oursFirst: (round + i) % 2 === 0 };
        measured.push(await measureProgram(subject, neighbour, sides));
        const good = bank.find(({ file }) => `good/${file}` === subject.file);
        if (good !== undefined) gates.push(await measureGates(good, sides));
      }
    }
    const memory: { ours: number; native: number }[] = [];
    for (let round = 0; round < options.rounds; round++) for (const subject of memorySubjects(bank)) memory.push(await measureMemory(subject, options));
    const { python, workers } = await harness.hello();
    return {
      rows: [...stepRows(measured), ...startRows(measured), ...gateRows(gates), memoryRow(memory, options.instances)],
      programs: subjects.length,
      rounds: options.rounds,
      sameTraces: measured.slice(0, subjects.length).filter(({ isSame }) => isSame).length,
      gateSteps: median(gates.map(({ steps }) => steps)),
      python,
      poolWorkers: workers,
      node: process.version,
    };
  } finally {
    harness.close();
    await sandbox.close();
  }
}

function evenly<T>(items: readonly T[], count: number): T[] {
  const wanted = Math.min(count, items.length);
  return Array.from({ length: wanted }, (_, i) => items[Math.floor((i * items.length) / wanted)]).filter((item) => item !== undefined);
}

/** One program of each kind. */
function memorySubjects(bank: readonly GoodProgram[]): Subject[] {
  const firsts = (["boxed", "interactive", "tool-use"] as const).flatMap((kind) => bank.find((program) => program.kind === kind) ?? []);
  return firsts.slice(0, memoryPrograms).map(({ file, program }) => ({ file, source: program.source }));
}

/** How costs are shown: as they are, or as a rate. */
interface Kind {
  readonly unit: string;
  readonly shown: (ms: number) => number;
  readonly ratio: (ours: number, native: number) => number;
}

const speed: Kind = { unit: "steps/s", shown: (ms) => 1000 / ms, ratio: (ours, native) => native / ours };
const start: Kind = { unit: "ms", shown: (ms) => ms, ratio: (ours, native) => native / ours };
const expense: Kind = { unit: "ms", shown: (ms) => ms, ratio: (ours, native) => ours / native };

function row(measure: string, pairs: readonly Pair[], { unit, shown, ratio }: Kind, target?: string): SpeedRow {
  const ratios = pairs.map(({ ours, native }) => ratio(ours.wallMs, native.wallMs)).sort((a, b) => a - b);
  return {
    measure,
    unit,
    pairs: pairs.length,
    ours: median(pairs.map(({ ours }) => shown(ours.wallMs))),
    native: median(pairs.map(({ native }) => shown(native.wallMs))),
    ratio: median(ratios),
    quartiles: middleHalf(ratios),
    cpuRatio: median(pairs.map(({ ours, native }) => ratio(ours.cpuMs, native.cpuMs))),
    ...(target === undefined ? {} : { target }),
  };
}

function middleHalf(sorted: readonly number[]): readonly [number, number] {
  return [median(sorted.slice(0, Math.ceil(sorted.length / 2))), median(sorted.slice(Math.floor(sorted.length / 2)))];
}

function stepRows(measured: readonly ProgramPairs[]): SpeedRow[] {
  return [
    row("batched steps", measured.map(({ batchedStep }) => batchedStep), speed, "≥ 0.5"),
    row("single steps", measured.map(({ singleStep }) => singleStep), speed),
    row("batched steps, native without its executor", measured.map(({ batchedAgainstDirect }) => batchedAgainstDirect), speed),
  ];
}

function startRows(measured: readonly ProgramPairs[]): SpeedRow[] {
  return [
    row("episode start, 16 at once", measured.map(({ startInGroup }) => startInGroup), start, "≥ 5"),
    row("episode start, one alone", measured.map(({ startOne }) => startOne), start, "≥ 5"),
    row("episode start, after another program", measured.map(({ startAfterSwitch }) => startAfterSwitch), start),
    row("first load of a program", measured.map(({ load }) => load), start),
  ];
}

function gateRows(gates: readonly GatePairs[]): SpeedRow[] {
  if (gates.length === 0) return [];
  return [
    row("gates 1-14 against one smoke validation", gates.map(({ againstLoad }) => againstLoad), expense, "≤ 3"),
    row("gates 1-14 against their own steps, native without its executor", gates.map(({ againstSteps }) => againstSteps), expense),
  ];
}

function memoryRow(bytes: readonly { readonly ours: number; readonly native: number }[], instances: number): SpeedRow {
  const mebibytes = (value: number): number => value / 2 ** 20;
  const ratios = bytes.map(({ ours, native }) => ours / native).sort((a, b) => a - b);
  return {
    measure: `memory of ${instances} instances`,
    unit: "MiB",
    pairs: bytes.length,
    ours: mebibytes(median(bytes.map(({ ours }) => ours))),
    native: mebibytes(median(bytes.map(({ native }) => native))),
    ratio: median(ratios),
    quartiles: middleHalf(ratios),
    cpuRatio: NaN,
  };
}

/** Measures and prints. */
export async function run(words: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...words],
    options: {
      rounds: { type: "string", default: "3" },
      programs: { type: "string", default: "100" },
      instances: { type: "string", default: "1000" },
      python: { type: "string", default: "python3" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(`Usage: ${usage}`);
    return;
  }
  const report = await benchSpeed({ rounds: count("rounds", values.rounds), programs: count("programs", values.programs), instances: count("instances", values.instances), python: values.python });
  console.log(values.json ? JSON.stringify(report) : describe(report));
}

function count(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new TypeError(`--${name} must be a whole number of at least 1 (got "${text}"). Usage: ${usage}`);
  return value;
}

function describe({ rows, programs, rounds, sameTraces, gateSteps, python, poolWorkers, node }: SpeedReport): string {
  const digits = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toPrecision(2));
  const line = ({ measure, unit, pairs, ours, native, ratio, quartiles, cpuRatio, target }: SpeedRow): string =>
    `| ${measure} | ${digits(ours)} ${unit} | ${digits(native)} ${unit} | ${digits(ratio)} [${quartiles.map(digits).join(", ")}] | ${Number.isNaN(cpuRatio) ? "" : digits(cpuRatio)} | ${target ?? ""} | ${pairs} |`;
  return [
    `${programs} Python programs, ${rounds} rounds, one lane; Node ${node}, native CPython ${python} with ${poolWorkers} threads`,
    "",
    "| measure | sandbox | native | ratio [middle half] | ratio of processor time | target | pairs |",
    "|---|---|---|---|---|---|---|",
    ...rows.map(line),
    "",
    `The same observations, rewards and flags on both sides: ${sameTraces} of ${programs} programs. All gates make ${digits(gateSteps)} steps in a program (median).`,
  ].join("\n");
}
