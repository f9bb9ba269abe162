/** A large corpus in every container: rate of indexing, latency of draws, memory and size of the index. Run it: `node bench/main.ts corpus`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, createWriteStream, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { createGzip, createZstdCompress } from "node:zlib";
import { parquetWriteFile } from "hyparquet-writer";
import { monotonicClock } from "../src/core/clock.ts";
import { Rng, deriveSeed } from "../src/core/seed.ts";
import { openCorpus } from "../src/corpus/corpus.ts";
import { corpusOptions, sourceOf } from "../src/corpus/testing/containers.ts";
import { serveRanges } from "../src/corpus/testing/range-server.ts";

const usage = "node bench/main.ts corpus [--documents 1000000] [--words 100] [--sample 15000] [--directory DIR] [--json]";
const shards = 10;
const draws = 5000;
const mebibyte = 2 ** 20;

/** What a process of its own measured: memory in MiB, times in seconds, latencies in milliseconds. */
interface Measurement {
  readonly documents: number;
  readonly duplicates: number;
  readonly openSeconds: number;
  /** Processor time of all threads, which other work on the machine does not stretch. */
  readonly cpuSeconds: number;
  readonly reopenSeconds: number;
  readonly drawMedianMs: number;
  readonly draw99Ms: number;
  readonly firstDrawMs: number;
  readonly startMiB: number;
  /** Largest resident size while the index was made. */
  readonly peakMiB: number;
  readonly afterDrawsMiB: number;
  readonly indexMiB: number;
  readonly digest: string;
}

interface Line extends Measurement {
  readonly container: string;
  readonly rows: number;
  readonly sourceMiB: number;
  /** Bytes asked of the server, MiB; of the remote container only. */
  readonly sentMiB?: number;
}

/** Measures in this process; the parent starts one for each container, so that their memories are apart. */
async function measure(path: string, sample: number | undefined, cacheDirectory: string): Promise<Measurement> {
  const source = sourceOf(path, sample === undefined ? {} : { sample });
  const options = corpusOptions(cacheDirectory, { maxWords: 6000, keep: { minWords: 1, maxWords: 6000, minCharacters: 0 } });
  const resident = (): number => process.memoryUsage.rss() / mebibyte;
  const startMiB = resident();
  const cpu = process.cpuUsage();
  const [openSeconds, first] = await timed(() => openCorpus([source], options));
  const { user, system } = process.cpuUsage(cpu);
  const peakMiB = process.resourceUsage().maxRSS / 1024;
  first.close();
  const [reopenSeconds, corpus] = await timed(() => openCorpus([source], options));
  const times: number[] = [];
  for (let index = 0; index < draws; index++) {
    const start = monotonicClock();
    corpus.draw({ seed: 1, iteration: 0, index, perIteration: draws });
    times.push(monotonicClock() - start);
  }
  const [firstDrawMs = NaN, ...others] = times;
  const sorted = others.sort((a, b) => a - b);
  const files = readdirSync(cacheDirectory);
  const indexMiB = files.reduce((sum, name) => sum + statSync(join(cacheDirectory, name)).size, 0) / mebibyte;
  const { size: documents, digest, counts } = corpus;
  corpus.close();
  return {
    documents, duplicates: counts.duplicates, openSeconds, cpuSeconds: (user + system) / 1e6, reopenSeconds, firstDrawMs, startMiB, peakMiB, indexMiB, digest,
    drawMedianMs: sorted[Math.floor(sorted.length / 2)] ?? NaN,
    draw99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? NaN,
    afterDrawsMiB: resident(),
  };
}

async function timed<T>(work: () => Promise<T>): Promise<readonly [number, T]> {
  const start = monotonicClock();
  const result = await work();
  return [(monotonicClock() - start) / 1000, result];
}

/** Documents of pseudo-words; every hundredth repeats an earlier one. */
function* documents(from: number, to: number, words: number): Generator<string> {
  const vocabulary = Array.from({ length: 4096 }, (_, i) => (i * 7919 + 3001).toString(26));
  for (let i = from; i < to; i++) {
    const rng = new Rng(deriveSeed(1, "bench", i % 100 === 99 ? i - 50 : i));
    yield Array.from({ length: words }, () => vocabulary[rng.uint32() & 4095]).join(" ");
  }
}

async function writeContainers(folder: string, count: number, words: number): Promise<Readonly<Record<"jsonl" | "gzip" | "zstd" | "parquet", string>>> {
  const paths = { jsonl: join(folder, "plain.jsonl"), gzip: join(folder, "packed.jsonl.gz"), zstd: join(folder, "packed.jsonl.zst"), parquet: join(folder, "shards") };
  await pipeline(Readable.from(blocks(count, words)), createWriteStream(paths.jsonl));
  await pipeline(createReadStream(paths.jsonl), createGzip({ level: 3 }), createWriteStream(paths.gzip));
  await pipeline(createReadStream(paths.jsonl), createZstdCompress(), createWriteStream(paths.zstd));
  mkdirSync(paths.parquet);
  for (let shard = 0; shard < shards; shard++) {
    const data = [...documents(Math.floor((count * shard) / shards), Math.floor((count * (shard + 1)) / shards), words)];
    parquetWriteFile({ filename: join(paths.parquet, `train-${String(shard).padStart(5, "0")}.parquet`), columnData: [{ name: "text", data, type: "STRING" }], rowGroupSize: 10_000 });
  }
  return paths;
}

function* blocks(count: number, words: number): Generator<string> {
  let block = "";
  for (const document of documents(0, count, words)) {
    block += `${JSON.stringify({ text: document })}\n`;
    if (block.length < mebibyte) continue;
    yield block;
    block = "";
  }
  yield block;
}

async function measureApart(path: string, sample: number | undefined, root: string): Promise<Measurement> {
  const cacheDirectory = mkdtempSync(join(root, "cache-"));
  const child = spawn(process.execPath, ["bench/main.ts", "corpus", "--measure", path, "--cache", cacheDirectory, ...(sample === undefined ? [] : ["--sample", String(sample)])], { cwd: join(import.meta.dirname, ".."), stdio: ["ignore", "pipe", "inherit"] });
  const [output] = await Promise.all([text(child.stdout), once(child, "close")]);
  rmSync(cacheDirectory, { recursive: true });
  return JSON.parse(output) as Measurement;
}

function sizeOf(path: string): number {
  return (statSync(path).isFile() ? statSync(path).size : readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0)) / mebibyte;
}

async function benchOf(rows: number, { words, sample, root }: { readonly words: number; readonly sample: number; readonly root: string }): Promise<readonly Line[]> {
  const folder = mkdtempSync(join(root, "data-"));
  try {
    const paths = await writeContainers(folder, rows, words);
    const lines: Line[] = [];
    for (const [container, path] of Object.entries(paths)) lines.push({ container, rows, sourceMiB: sizeOf(path), ...(await measureApart(path, undefined, root)) });
    lines.push({ container: `parquet, ${sample} by lot`, rows, sourceMiB: sizeOf(paths.parquet), ...(await measureApart(paths.parquet, sample, root)) });
    lines.push(await remoteLine(rows, { shard: join(paths.parquet, "train-00000.parquet"), sample: Math.ceil(sample / 1000), root }));
    return lines;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** One shard behind a loopback server that answers ranges. */
async function remoteLine(rows: number, { shard, sample, root }: { readonly shard: string; readonly sample: number; readonly root: string }): Promise<Line> {
  await using server = await serveRanges({ files: new Map([["/shard.parquet", readFileSync(shard)]]) });
  const measured = await measureApart(`${server.origin}/shard.parquet`, sample, root);
  return { container: `HTTP, ${sample} by lot`, rows: Math.floor(rows / shards), sourceMiB: sizeOf(shard), sentMiB: server.sentBytes / mebibyte, ...measured };
}

function describe(lines: readonly Line[]): string {
  const head = ["container", "rows", "source MiB", "documents", "open s", "CPU s", "rows/s", "reopen s", "draw ms", "p99 ms", "index MiB", "start MiB", "peak MiB", "after MiB", "sent MiB"];
  const cells = lines.map((line) => [
    line.container, String(line.rows), line.sourceMiB.toFixed(1), String(line.documents), line.openSeconds.toFixed(2), line.cpuSeconds.toFixed(2), (line.rows / line.openSeconds).toFixed(0), line.reopenSeconds.toFixed(3),
    line.drawMedianMs.toFixed(3), line.draw99Ms.toFixed(3), line.indexMiB.toFixed(1), line.startMiB.toFixed(0), line.peakMiB.toFixed(0), line.afterDrawsMiB.toFixed(0), line.sentMiB?.toFixed(1) ?? "",
  ]);
  return [head, head.map(() => "---"), ...cells].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

/** Runs the bench on a tenth of the documents and on all of them, and prints one table. */
export async function run(words: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...words],
    options: {
      documents: { type: "string", default: "1000000" }, words: { type: "string", default: "100" }, sample: { type: "string" }, directory: { type: "string", default: tmpdir() },
      measure: { type: "string" }, cache: { type: "string" }, json: { type: "boolean" }, help: { type: "boolean" },
    },
  });
  if (values.help === true) {
    console.log(`Usage: ${usage}`);
    return;
  }
  if (values.measure !== undefined) {
    const sample = values.sample === undefined ? undefined : Number(values.sample);
    console.log(JSON.stringify(await measure(values.measure, sample, values.cache ?? tmpdir())));
    return;
  }
  const root = mkdtempSync(join(values.directory, "spade-corpus-bench-"));
  try {
    const lines: Line[] = [];
    const options = { words: Number(values.words), sample: Number(values.sample ?? 15_000), root };
    for (const rows of [Number(values.documents) / 10, Number(values.documents)]) lines.push(...(await benchOf(Math.floor(rows), options)));
    console.log(values.json === true ? JSON.stringify(lines) : describe(lines));
  } finally {
    rmSync(root, { recursive: true });
  }
}
