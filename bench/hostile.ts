/** Healthy episodes alone and beside hostile programs, for a while: speed, codes, lateness, records, growth, and what is left. Run it: `node bench/main.ts hostile`. */
import { existsSync, readdirSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { monotonicClock } from "../src/core/clock.ts";
import { defaultCacheDirectory } from "../src/sandbox/image.ts";
import { healthySource, type HostileFixture } from "../src/sandbox/fixtures.ts";
import { openSandbox, type ObservedSandbox } from "../src/sandbox/pool.ts";
import { processorMsOf, residentBytesOf } from "../src/sandbox/processes.ts";
import type { ProgramHandle } from "../src/sandbox/sandbox.ts";
import { descendantsOf, isRunning } from "../src/sandbox/test-processes.ts";
import { languageOf, openProgram } from "../src/sandbox/test-sandbox.ts";
import { allHostile, hostileLimits, playHealthy, provoke, type Provoked } from "../src/sandbox/testing/hostile-play.ts";

const usage = "node bench/main.ts hostile [--minutes 10] [--wall-ms 1000] [--plays 30] [--fresh] [--only TEXT] [--json]";
const seeds = Array.from({ length: 25 }, (_, i) => i);
const lanes = 2;
/** A call may take this long beyond its wall limit. */
const graceMs = 1000;
const targetShare = 0.8;

/** One pair: 50 healthy episodes at a time, again and again, alone, then beside a hostile program that is run again and again. */
interface Pair {
  readonly name: string;
  readonly aloneMs: number;
  readonly besideMs: number;
  /** Cores that parent and children took while alone. */
  readonly coresAlone: number;
  readonly isSame: boolean;
  readonly provoked: readonly Provoked[];
}

/** Speeds are shares of the speed alone (1: not slowed), memory in MiB. */
interface HostileReport {
  readonly minutes: number;
  readonly node: string;
  readonly bubblewrap: boolean;
  readonly kinds: number;
  readonly pairs: number;
  readonly hostileRuns: number;
  /** Calls that were taken over by the lane of slow programs while they ran. */
  readonly takenOver: number;
  /** Of this machine, those that healthy episodes alone take when nobody else is here, and how many wait for them (load average of a minute, at the end). */
  readonly cores: number;
  readonly medianCoresAlone: number;
  readonly load: number;
  readonly medianAloneMs: number;
  readonly medianBesideMs: number;
  /** Median over all pairs, and of each kind, the one that slows most first. */
  readonly medianShare: number;
  readonly byKind: readonly { readonly name: string; readonly share: number }[];
  readonly slowestCallMs: number;
  readonly late: readonly string[];
  readonly wrongCodes: readonly string[];
  readonly differingRecords: readonly string[];
  readonly parentGrowthMiB: number;
  readonly childGrowthMiB: number;
  readonly processesLeft: number;
  readonly filesLeft: number;
}

interface Timed {
  readonly ms: number;
  readonly cores: number;
  /** One for each play of the 50 episodes. */
  readonly records: ReadonlySet<string>;
}

/** What is played: healthy programs, and how often in each half of a pair. */
interface Field {
  readonly sandbox: ObservedSandbox;
  readonly handles: readonly ProgramHandle[];
  readonly plays: number;
  /** Whether each run of a hostile program is one of a program never seen before. */
  readonly isFresh: boolean;
}

async function timed({ handles, plays }: Field): Promise<Timed> {
  const [start, before] = [monotonicClock(), processorMsOf(process.pid)];
  const records = new Set<string>();
  for (let i = 0; i < plays; i++) records.add(JSON.stringify(await playHealthy(handles, seeds)));
  const ms = monotonicClock() - start;
  return { ms, cores: (processorMsOf(process.pid) - before) / ms, records };
}

/** Both halves of a pair, in either order: a drift of the machine's speed falls on both alike. */
async function pair(field: Field, fixture: HostileFixture, { lane, isAloneFirst }: { readonly lane: number; readonly isAloneFirst: boolean }): Promise<Pair> {
  const provoked: Provoked[] = [];
  const playBeside = async (): Promise<Timed> => {
    let isPlaying = true;
    const hostile = (async () => {
      while (isPlaying) provoked.push(await provoke(field.sandbox, field.isFresh ? renewed(fixture) : fixture, lane));
    })();
    const beside = await timed(field).finally(() => (isPlaying = false));
    await hostile;
    return beside;
  };
  const first = isAloneFirst ? await timed(field) : await playBeside();
  const second = isAloneFirst ? await playBeside() : await timed(field);
  const [alone, beside] = isAloneFirst ? [first, second] : [second, first];
  const isSame = new Set([...alone.records, ...beside.records]).size === 1;
  return { name: fixture.name, aloneMs: alone.ms, besideMs: beside.ms, coresAlone: alone.cores, isSame, provoked };
}

let runs = 0;

/** Another program that does the same: what the sandbox remembers of the last one does not help. */
function renewed(fixture: HostileFixture): HostileFixture {
  return { ...fixture, source: `${fixture.source}\n${languageOf(fixture.source) === "python" ? "#" : "//"} ${runs++}\n` };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN;
}

/** Memory of this process, and on average of the sandbox's children, whose number is bounded, in MiB. */
interface Memory {
  readonly parent: number;
  readonly child: number;
}

function memoryOf(sandbox: ObservedSandbox): Memory {
  const pids = sandbox.pids();
  return { parent: process.memoryUsage.rss() / 2 ** 20, child: pids.reduce((sum, pid) => sum + residentBytesOf(pid), 0) / pids.length / 2 ** 20 };
}

/** Median of the last quarter of the samples less that of the second: the first is warming up. */
function growthOf(samples: readonly number[]): number {
  const quarter = samples.length >> 2;
  return median(samples.slice(samples.length - quarter)) - median(samples.slice(quarter, 2 * quarter));
}

interface HostileOptions extends Pick<Field, "plays" | "isFresh"> {
  readonly minutes: number;
  readonly wallMsPerCall: number;
  readonly kinds: readonly HostileFixture[];
}

/** Runs rounds over all hostile programs until the time is over; without time, one round. */
async function benchHostile({ minutes, wallMsPerCall, kinds, ...how }: HostileOptions): Promise<HostileReport> {
  const before = descendantsOf(process.pid);
  const filesBefore = leftovers();
  const sandbox = await openSandbox({ lanes, limits: { ...hostileLimits, wallMsPerCall } });
  const pairs: Pair[] = [];
  const memory: Memory[] = [];
  try {
    const handles = await Promise.all(Array.from({ length: lanes }, (_, lane) => openProgram(sandbox, healthySource, lane)));
    // Not measured: children start and code is compiled.
    for (let i = 0; i < 3; i++) await playHealthy(handles, seeds);
    const end = monotonicClock() + 60_000 * minutes;
    const isOver = (): boolean => minutes > 0 && monotonicClock() > end;
    for (let round = 0; round === 0 || (minutes > 0 && !isOver()); round++) {
      for (const [i, fixture] of kinds.entries()) {
        if (isOver()) break;
        pairs.push(await pair({ sandbox, handles, ...how }, fixture, { lane: i % lanes, isAloneFirst: (i + round) % 2 === 0 }));
        memory.push(memoryOf(sandbox));
      }
    }
  } finally {
    await sandbox.close();
  }
  const left = descendantsOf(process.pid).filter((pid) => !before.includes(pid) && isRunning(pid));
  return {
    minutes,
    node: process.version,
    bubblewrap: sandbox.isolation.bubblewrap.active,
    ...summary(pairs, wallMsPerCall),
    takenOver: sandbox.statistics().reduce((sum, lane) => sum + lane.takenOver, 0),
    cores: availableParallelism(),
    load: loadavg()[0] ?? NaN,
    parentGrowthMiB: growthOf(memory.map(({ parent }) => parent)),
    childGrowthMiB: growthOf(memory.map(({ child }) => child)),
    processesLeft: left.length,
    filesLeft: leftovers().filter((name) => !filesBefore.includes(name)).length,
  };
}

/** Files of children and image builds in the cache; other sandboxes of this user have theirs there too. */
function leftovers(): string[] {
  const directory = defaultCacheDirectory();
  return existsSync(directory) ? readdirSync(directory).filter((name) => name.startsWith("progress-") || name.endsWith(".tmp")) : [];
}

/** What the pairs say. */
type Summary = Omit<HostileReport, "minutes" | "node" | "bubblewrap" | "takenOver" | "cores" | "load" | "parentGrowthMiB" | "childGrowthMiB" | "processesLeft" | "filesLeft">;

function summary(pairs: readonly Pair[], wallMsPerCall: number): Summary {
  const share = ({ aloneMs, besideMs }: Pair): number => aloneMs / besideMs;
  const names = [...new Set(pairs.map(({ name }) => name))];
  const byKind = names.map((name) => ({ name, share: median(pairs.filter((one) => one.name === name).map(share)) }));
  const provoked = pairs.flatMap((one) => one.provoked);
  const limitMs = wallMsPerCall + graceMs;
  return {
    kinds: names.length,
    pairs: pairs.length,
    hostileRuns: provoked.length,
    medianCoresAlone: median(pairs.map(({ coresAlone }) => coresAlone)),
    medianAloneMs: median(pairs.map(({ aloneMs }) => aloneMs)),
    medianBesideMs: median(pairs.map(({ besideMs }) => besideMs)),
    medianShare: median(pairs.map(share)),
    byKind: byKind.sort((a, b) => a.share - b.share),
    slowestCallMs: Math.max(...provoked.map(({ slowestMs }) => slowestMs)),
    late: [...new Set(provoked.filter(({ slowestMs }) => slowestMs > limitMs).map(({ name, slowestMs }) => `${name}: ${slowestMs.toFixed(0)} ms`))],
    wrongCodes: [...new Set(provoked.filter(({ isRight }) => !isRight).map(({ name, code }) => `${name}: ${code}`))],
    differingRecords: [...new Set(pairs.filter(({ isSame }) => !isSame).map(({ name }) => name))],
  };
}

/** Measures and prints; exit code 1 when a record differs, a code is wrong or something is left. */
export async function run(words: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...words], options: { minutes: { type: "string", default: "10" }, "wall-ms": { type: "string", default: "1000" }, plays: { type: "string", default: "30" }, fresh: { type: "boolean", default: false }, only: { type: "string", default: "" }, json: { type: "boolean", default: false }, help: { type: "boolean", default: false } } });
  if (values.help) {
    console.log(`Usage: ${usage}`);
    return;
  }
  const minutes = Number(values.minutes);
  if (!(minutes >= 0)) throw new TypeError(`--minutes must be a number of at least 0, where 0 is one round (got "${values.minutes}"). Usage: ${usage}`);
  const wallMs = Number(values["wall-ms"]);
  if (!Number.isInteger(wallMs) || wallMs < 1) throw new TypeError(`--wall-ms must be a whole number of milliseconds of at least 1, the limit of one call (got "${values["wall-ms"]}"). Usage: ${usage}`);
  const plays = Number(values.plays);
  if (!Number.isInteger(plays) || plays < 1) throw new TypeError(`--plays must be a whole number of at least 1, how often the 50 healthy episodes are played in each half of a pair (got "${values.plays}"). Usage: ${usage}`);
  const kinds = allHostile.filter(({ name }) => name.includes(values.only));
  if (kinds.length === 0) throw new TypeError(`--only "${values.only}" is part of no program's name. Usage: ${usage}`);
  const report = await benchHostile({ minutes, wallMsPerCall: wallMs, plays, isFresh: values.fresh, kinds });
  console.log(values.json ? JSON.stringify(report) : describe(report));
  if (report.differingRecords.length + report.wrongCodes.length + report.processesLeft + report.filesLeft > 0) process.exitCode = 1;
}

function describe(report: HostileReport): string {
  const list = (items: readonly string[]): string => (items.length === 0 ? "none" : items.join("; "));
  return [
    `${report.kinds} kinds of hostile programs, ${report.hostileRuns} runs, beside 50 healthy episodes on ${lanes} lanes; ${report.pairs} pairs in ${report.minutes === 0 ? "one round" : `${report.minutes} minutes`}, Node ${report.node}, ${report.bubblewrap ? "inside" : "without"} bubblewrap`,
    `healthy episodes, median: ${report.medianAloneMs.toFixed(0)} ms alone, ${report.medianBesideMs.toFixed(0)} ms beside; median share of the speed alone ${report.medianShare.toFixed(2)} (target ${targetShare})`,
    `${report.cores} cores, load ${report.load.toFixed(1)}; healthy episodes alone took ${report.medianCoresAlone.toFixed(2)} of them; ${report.takenOver} calls were taken over by the lane of slow programs`,
    `slowed most by: ${report.byKind.slice(0, 6).map(({ name, share }) => `${name} ${share.toFixed(2)}`).join(", ")}`,
    `slowest hostile call: ${report.slowestCallMs.toFixed(0)} ms; later than its limit + 1 s: ${list(report.late)}`,
    `wrong codes: ${list(report.wrongCodes)}`,
    `differing healthy records: ${list(report.differingRecords)}`,
    `growth from the second quarter of the time to the last: parent ${report.parentGrowthMiB.toFixed(0)} MiB, a child on average ${report.childGrowthMiB.toFixed(0)} MiB`,
    `left: ${report.processesLeft} processes, ${report.filesLeft} files`,
  ].join("\n");
}
