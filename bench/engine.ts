import { parseArgs } from "node:util";
import { monotonicClock } from "../src/core/clock.ts";
import { EngineHost } from "../src/engine/engine.ts";
import { concat, input, matmul, matmulFlops, reshape, slice, topological } from "../src/engine/graph.ts";
import type { Outputs, Tensor } from "../src/engine/graph.ts";
import { crossEntropyGraph } from "../src/engine/losses.ts";
import { Session } from "../src/engine/session.ts";
import type { Feed } from "../src/engine/session.ts";
import { chunkTokens } from "../src/engine/training.ts";
import type { AdamSettings, CrossEntropyRow, EngineSampleRequest, TransformerConfig } from "../src/engine/types.ts";

/** Shape of the bundled nano model. */
const nano: TransformerConfig = { vocabularySize: 1536, width: 192, layers: 5, heads: 3, feedForward: 512, contextLength: 1024, ropeBase: 1_000_000 };
const adam: AdamSettings = { learningRate: 1e-4, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0.1, maxGradientNorm: 1 };
const trainingTokens = 4096;
const samplingBatch = 64;
const promptTokens = 256;
const sampledTokens = 64;

export interface TrainingMeasurement {
  readonly rowLength: number;
  readonly tokensPerSecond: number;
  /** FLOP/s of the step's matrix products, everything else in the step included in the time. */
  readonly stepRate: number;
  /** FLOP/s of ONNX Runtime on the same matrix products alone. */
  readonly gemmRate: number;
  readonly share: number;
}

export interface EngineReport {
  readonly threads: number;
  readonly parameters: number;
  readonly training: readonly TrainingMeasurement[];
  readonly sampling: { readonly batch: number; readonly promptTokens: number; readonly tokensPerSecond: number; readonly decodeTokensPerSecond: number };
  readonly text: string;
}

/**
 * Measures the engine as a user meets it (through the worker thread, packing and Adam included) beside bare matrix products of
 * the same shapes in the same ONNX Runtime. Medians; the two are interleaved, so that other work on the machine hits both.
 */
export async function benchEngine(options: { threads: number; repetitions: number }): Promise<EngineReport> {
  const engine = await EngineHost.create({ source: { kind: "seed", config: nano, seed: 1 }, threads: options.threads });
  try {
    const training: TrainingMeasurement[] = [];
    for (const rowLength of [256, 512]) training.push(await measureTraining(engine, rowLength, options));
    const sampling = await measureSampling(engine, options.repetitions);
    const weights = await engine.exportWeights();
    const parameters = Object.values(weights).reduce((total, { length }) => total + length, 0);
    const report = { threads: options.threads, parameters, training, sampling };
    return { ...report, text: render(report) };
  } finally {
    await engine.close();
  }
}

async function measureTraining(engine: EngineHost, rowLength: number, options: { threads: number; repetitions: number }): Promise<TrainingMeasurement> {
  const rows = trainingRows(rowLength);
  const chunks = trainingTokens / chunkTokens;
  const rowsPerChunk = chunkTokens / rowLength;
  const sizes = { R: rowsPerChunk, N: chunkTokens, P: rowsPerChunk * (rowLength - 1) };
  const graph = crossEntropyGraph(nano, rowLength);
  const flops = matmulFlops(graph, sizes) * chunks;
  const gemm = await gemmRunner(graph, sizes, options.threads);
  const times: { step: number; gemm: number }[] = [];
  for (let i = 0; i <= options.repetitions; i++) {
    const step = await timed(() => engine.crossEntropyStep(rows, adam));
    const bare = await timed(async () => {
      for (let chunk = 0; chunk < chunks; chunk++) await gemm.run();
    });
    if (i > 0) times.push({ step, gemm: bare });
  }
  await gemm.release();
  const [step, bare] = [median(times.map((time) => time.step)), median(times.map((time) => time.gemm))];
  const share = median(times.map((time) => time.gemm / time.step));
  return { rowLength, tokensPerSecond: trainingTokens / step, stepRate: flops / step, gemmRate: flops / bare, share };
}

function trainingRows(length: number): CrossEntropyRow[] {
  return Array.from({ length: trainingTokens / length }, (_, r) => ({
    tokens: Int32Array.from({ length }, (_unused, t) => (t * 7 + r * 31 + t * t) % nano.vocabularySize),
    weights: new Float32Array(length).fill(1),
  }));
}

/** One graph of all matrix products of another, with their transpositions, each on inputs of its own (of one memory per shape). */
async function gemmRunner(graph: Outputs, sizes: Readonly<Record<string, number>>, threads: number): Promise<{ run(): Promise<unknown>; release(): Promise<void> }> {
  const feeds: Record<string, Feed> = {};
  const memory = new Map<string, Float32Array>();
  const operand = (name: string, { shape: dims }: Tensor): Tensor => {
    const shape = dims.map((dim) => (typeof dim === "string" ? (sizes[dim] ?? NaN) : dim));
    const data = memory.get(shape.join()) ?? new Float32Array(shape.reduce((product, size) => product * size, 1)).fill(0.01);
    memory.set(shape.join(), data);
    feeds[name] = { data, shape };
    return input(name, shape);
  };
  const corners = topological(Object.values(graph)).flatMap(({ op, inputs: [a, b] }, i) =>
    op.kind === "matmul" && a !== undefined && b !== undefined ? [corner(matmul(operand(`a${i}`, a), operand(`b${i}`, b), op))] : [],
  );
  const session = await Session.create({ corners: concat(corners, 0) }, threads);
  return { run: () => session.run(feeds), release: () => session.release() };
}

/** One element of a product: it is all computed, and fetching it costs nothing. */
const corner = (product: Tensor): Tensor => reshape(product.shape.reduce<Tensor>((x, _, axis) => slice(x, axis, 0, 1), product), [1]);

async function measureSampling(engine: EngineHost, repetitions: number): Promise<EngineReport["sampling"]> {
  const requests = (maxTokens: number): EngineSampleRequest[] =>
    Array.from({ length: samplingBatch }, (_, r) => ({
      prompt: Int32Array.from({ length: promptTokens }, (_unused, t) => (t * 11 + r * 17) % nano.vocabularySize),
      temperature: 1, topP: 1, topK: 0, maxTokens, stopToken: -1, seed: r,
    }));
  const times: { all: number; first: number }[] = [];
  for (let i = 0; i <= repetitions; i++) {
    const first = await timed(() => engine.sample(requests(1)));
    const all = await timed(() => engine.sample(requests(sampledTokens)));
    if (i > 0) times.push({ all, first });
  }
  const tokens = samplingBatch * sampledTokens;
  return {
    batch: samplingBatch,
    promptTokens,
    tokensPerSecond: tokens / median(times.map(({ all }) => all)),
    decodeTokensPerSecond: (tokens - samplingBatch) / median(times.map(({ all, first }) => all - first)),
  };
}

/** Seconds. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = monotonicClock();
  await work();
  return (monotonicClock() - start) / 1000;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? (sorted[middle] ?? NaN) : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
}

function render(report: Omit<EngineReport, "text">): string {
  const giga = (rate: number): string => `${(rate / 1e9).toFixed(1)} GFLOP/s`;
  const training = report.training.map(
    ({ rowLength, tokensPerSecond, stepRate, gemmRate, share }) =>
      `training, rows of ${rowLength}: ${tokensPerSecond.toFixed(0)} tokens/s; step ${giga(stepRate)}, GEMM on the same shapes ${giga(gemmRate)}, share ${(share * 100).toFixed(0)} %`,
  );
  const { batch, promptTokens: prompt, tokensPerSecond, decodeTokensPerSecond } = report.sampling;
  const sampling = `sampling, batch ${batch}, prompts of ${prompt}: ${tokensPerSecond.toFixed(0)} tokens/s with prefill, ${decodeTokensPerSecond.toFixed(0)} without`;
  return [`nano model, ${(report.parameters / 1e6).toFixed(2)} M parameters, ${report.threads} thread(s)`, ...training, sampling].join("\n");
}

const help = "Usage: node bench/main.ts engine [--threads N] [--repetitions N] [--json]";

/** Measures and prints. */
export async function run(words: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...words],
    options: { threads: { type: "string", default: "2" }, repetitions: { type: "string", default: "5" }, json: { type: "boolean" }, help: { type: "boolean" } },
  });
  if (values.help === true) {
    console.log(help);
    return;
  }
  const { text, ...report } = await benchEngine({ threads: Number(values.threads), repetitions: Number(values.repetitions) });
  console.log(values.json === true ? JSON.stringify(report) : text);
}
