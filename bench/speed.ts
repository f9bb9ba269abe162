/** Our sandbox beside plain CPython doing what the reference does: one paired bench over the hand-written programs. Run it: `node bench/main.ts speed`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type GoodProgram, readGoodBank } from "../src/gates/good-bank.ts";
import { openSandbox } from "../src/sandbox/pool.ts";
import { bankPrograms } from "../src/sandbox/testing/determinism.ts";
import { openProgram } from "../src/sandbox/test-sandbox.ts";
import { NativeHarness } from "./native.ts";
import { type GatePairs, measureGates, measureMemory, measureProgram, median, type Pair, type ProgramPairs, type Sides, type Subject } from "./speed-parts.ts";

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
  /** In the direction of the target: above 1 ours is faster for speeds, costlier for `gates` and `memory`. */
  readonly ratio: number;
  readonly quartiles: readonly [number, number];
  readonly target?: string;
  readonly isMet?: boolean;
}

/** The table, and what is needed to judge it. */
export interface SpeedReport {
  readonly rows: readonly SpeedRow[];
  readonly programs: number;
  readonly rounds: number;
  /** Programs of which both sides observed the same, byte for byte. */
  readonly sameTraces: number;
  /** Steps of all gates on a program, and the milliseconds of the same steps in plain CPython, medians. */
  readonly gateSteps: number;
  readonly gateStepsNativeMs: number;
  readonly python: string;
  readonly poolWorkers: number;
  readonly node: string;
}

/** Measures everything. @throws Error when there is no Python to compare with. */
export async function benchSpeed(options: SpeedOptions): Promise<SpeedReport> {
  const harness = await NativeHarness.start(options.python);
  const sandbox = await openSandbox({ lanes: 1, ...(options.cacheDirectory === undefined ? {} : { cacheDirectory: options.cacheDirectory }) });
  try {
    const subjects = evenly(bankPrograms(environments, ["good", "heldout"]).filter(({ language }) => language === "python"), options.programs);
    const bank = readGoodBank(join(environments, "good")).filter(({ program }) => program.language === "python");
    const neighbour = await openProgram(sandbox, readFileSync(join(environments, "heldout", "candle.py"), "utf8"));
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
    const memory: Pair[] = [];
    for (const subject of memorySubjects(bank)) memory.push(await measureMemory(subject, options));
    const { python, workers } = await harness.hello();
    return {
      rows: [...stepRows(measured), ...startRows(measured), ...gateRows(gates), row("memory", "MiB", memory, costs)],
      programs: subjects.length,
      rounds: options.rounds,
      sameTraces: measured.slice(0, subjects.length).filter(({ isSame }) => isSame).length,
      gateSteps: median(gates.map(({ steps }) => steps)),
      gateStepsNativeMs: median(gates.map(({ nativeStepsMs }) => nativeStepsMs)),
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

type Ratio = (pair: Pair) => number;
const isFasterBy: Ratio = ({ ours, native }) => native / ours;
const costs: Ratio = ({ ours, native }) => ours / native;

function row(measure: string, unit: string, pairs: readonly Pair[], ratioOf: Ratio, target?: { readonly text: string; readonly isMet: (ratio: number) => boolean }): SpeedRow {
  const ratios = pairs.map(ratioOf).sort((a, b) => a - b);
  const ratio = median(ratios);
  const quartiles = [median(ratios.slice(0, Math.ceil(ratios.length / 2))), median(ratios.slice(Math.floor(ratios.length / 2)))] as const;
  const base = { measure, unit, pairs: pairs.length, ours: median(pairs.map(({ ours }) => ours)), native: median(pairs.map(({ native }) => native)), ratio, quartiles };
  return target === undefined ? base : { ...base, target: target.text, isMet: target.isMet(ratio) };
}

function stepRows(measured: readonly ProgramPairs[]): SpeedRow[] {
  const perSecond = (pair: Pair): Pair => ({ ours: 1000 / pair.ours, native: 1000 / pair.native });
  const half = { text: "≥ 0.5", isMet: (ratio: number) => ratio >= 0.5 };
  return [
    row("batched steps", "steps/s", measured.map(({ batchedStep }) => perSecond(batchedStep)), costs, half),
    row("single steps", "steps/s", measured.map(({ singleStep }) => perSecond(singleStep)), costs),
    row("batched steps, native without executor", "steps/s", measured.map(({ batchedAgainstDirect }) => perSecond(batchedAgainstDirect)), costs),
  ];
}

function startRows(measured: readonly ProgramPairs[]): SpeedRow[] {
  const five = { text: "≥ 5", isMet: (ratio: number) => ratio >= 5 };
  return [
    row("episode start, 16 at once", "ms", measured.map(({ startInGroup }) => startInGroup), isFasterBy, five),
    row("episode start, one alone", "ms", measured.map(({ startOne }) => startOne), isFasterBy, five),
    row("episode start, after another program", "ms", measured.map(({ startAfterSwitch }) => startAfterSwitch), isFasterBy, five),
    row("first load of a program", "ms", measured.map(({ load }) => load), isFasterBy),
  ];
}

function gateRows(gates: readonly GatePairs[]): SpeedRow[] {
  const three = { text: "≤ 3", isMet: (ratio: number) => ratio <= 3 };
  const perStep = ({ gates: { ours }, steps, nativeStepsMs }: GatePairs): Pair => ({ ours: ours / steps, native: nativeStepsMs / steps });
  return gates.length === 0 ? [] : [row("gates 1-14 against one smoke validation", "ms", gates.map((pair) => pair.gates), costs, three), row("gates, per step they make, native bare", "ms", gates.map(perStep), costs)];
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

function describe({ rows, programs, rounds, sameTraces, gateSteps, gateStepsNativeMs, python, poolWorkers, node }: SpeedReport): string {
  const digits = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));
  const line = ({ measure, unit, pairs, ours, native, ratio, quartiles, target, isMet }: SpeedRow): string =>
    `| ${measure} | ${digits(ours)} ${unit} | ${digits(native)} ${unit} | ${digits(ratio)} [${quartiles.map(digits).join(", ")}] | ${target === undefined ? "" : `${target}: ${isMet === true ? "met" : "missed"}`} | ${pairs} |`;
  return [
    `${programs} Python programs, ${rounds} rounds, one lane; Node ${node}, native CPython ${python}, executor of ${poolWorkers} threads`,
    "",
    "| measure | sandbox | native | ratio [middle half] | target | pairs |",
    "|---|---|---|---|---|---|",
    ...rows.map(line),
    "",
    `The same observations, rewards and flags on both sides: ${sameTraces} of ${programs} programs.`,
    `All gates make ${digits(gateSteps)} steps in a program (median); the same steps alone take plain CPython ${digits(gateStepsNativeMs)} ms.`,
  ].join("\n");
}
