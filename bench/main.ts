/** Runs one benchmark or study by name; each file of this folder is one, with `run(words)`. */
const benchmarks: Readonly<Record<string, { readonly summary: string; readonly load: () => Promise<{ readonly run: (words: readonly string[]) => unknown }> }>> = {
  corpus: { summary: "a corpus of a million documents in every container: rate of indexing, latency of draws, memory, size of the index", load: () => import("./corpus.ts") },
  determinism: { summary: "random cases played alone, interleaved, forked, restored and in other children: differing bytes, and a digest", load: () => import("./determinism.ts") },
  engine: { summary: "training and sampling tokens/s of the nano model, beside ONNX Runtime's GEMM rate on the same shapes", load: () => import("./engine.ts") },
  hostile: { summary: "50 healthy episodes alone and beside hostile programs: speed, codes, lateness, growth, what is left", load: () => import("./hostile.ts") },
  null: { summary: "what a hint of no effect earns the designer, under each regret estimate", load: () => import("./null.ts") },
  sandbox: { summary: "time to start, load, step and switch programs in the sandbox", load: () => import("./sandbox.ts") },
  speed: { summary: "the sandbox beside plain CPython that does what the reference does: steps, episode starts, gates, memory", load: () => import("./speed.ts") },
  throughput: { summary: "wall time of an iteration against what the model server alone needs, at 8, 64 and 512 episodes at once; memory", load: () => import("./throughput.ts") },
  study: { summary: "one table over several runs: first and last fifth, win rates before and after", load: () => import("./study.ts") },
};

const [name, ...words] = process.argv.slice(2);
const benchmark = name === undefined ? undefined : benchmarks[name];
if (benchmark === undefined) {
  const list = Object.entries(benchmarks).map(([key, { summary }]) => `  ${key.padEnd(11)} ${summary}`);
  console.log(["Usage: node bench/main.ts <benchmark> [options]", "", "Benchmarks (each has --help and --json):", ...list].join("\n"));
  process.exitCode = name === "--help" ? 0 : 2;
} else {
  await (await benchmark.load()).run(words);
}
