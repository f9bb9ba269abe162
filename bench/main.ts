import { benchEngine } from "./engine.ts";

const usage = `Usage: node bench/main.ts <benchmark> [--json] [--threads N] [--repetitions N]

Benchmarks:
  engine    training and sampling tokens/s of the nano model, beside ONNX Runtime's GEMM rate on the same shapes
`;

/** Value of an option, as a whole number of at least 1. */
function option(args: readonly string[], name: string, fallback: number): number {
  const at = args.indexOf(name);
  if (at === -1) return fallback;
  const value = Number(args[at + 1]);
  if (Number.isInteger(value) && value >= 1) return value;
  console.error(`${name} ${args[at + 1] ?? ""}: expected a whole number of at least 1.\n\n${usage}`);
  process.exit(2);
}

const args = process.argv.slice(2);
if (args.includes("--help") || args.includes("-h")) {
  console.log(usage);
} else if (args[0] === "engine") {
  const report = await benchEngine({ threads: option(args, "--threads", 2), repetitions: option(args, "--repetitions", 5) });
  console.log(args.includes("--json") ? JSON.stringify(report) : report.text);
} else {
  console.error(`Unknown benchmark ${args[0] ?? "(none)"}.\n\n${usage}`);
  process.exitCode = 2;
}
