import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fence } from "../../src/designer/prompts.ts";
import { defaultRetry } from "../../src/http/retry.ts";
import type { Loss, Optimiser, Trainer, TrainingRow } from "../../src/policy/policy.ts";
import { profiles } from "../../src/policy/tinker/profile.ts";
import { connect, type ConnectChanges } from "../../src/policy/tinker/testing/connect.ts";
import type { Tinker } from "../../src/policy/tinker/tinker.ts";
import type { ServedDirectory } from "./model-files.ts";
import { freePort, SkyRl } from "./server.ts";

/** A server on a model, with a directory of its own that is removed with it. */
export interface Served extends AsyncDisposable {
  readonly server: SkyRl;
  readonly baseUrl: string;
  readonly directory: string;
}

/** Starts a server; it knows the model as `name` in its own directory, or by the absolute path there. */
export async function serve(model: ServedDirectory, name: "relative" | "absolute"): Promise<Served> {
  const directory = mkdtempSync(join(tmpdir(), "spade-skyrl-"));
  cpSync(model.directory, join(directory, "model"), { recursive: true });
  const python = process.env["SPADE_SKYRL_PYTHON"];
  if (python === undefined) throw new Error("SPADE_SKYRL_PYTHON is not set. Start these tests with: npm run test:skyrl");
  const options = { python, directory, model: name === "relative" ? "model" : join(directory, "model"), port: await freePort() };
  const server = await SkyRl.start(options);
  const dispose = async (): Promise<void> => {
    await server[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true });
  };
  return { server, directory, baseUrl: server.baseUrl, [Symbol.asyncDispose]: dispose };
}

/** A client of a real server: patient, since compiling takes long. */
export function connectTo({ server, baseUrl }: Pick<Served, "server" | "baseUrl">, options: ConnectChanges["options"] = {}): Promise<Tinker> {
  return connect(baseUrl, { profile: profiles["skyrl-jax"], timeoutMs: 60_000, retry: defaultRetry, timing: { pollPauseMs: 20, operationTimeoutMs: 600_000 }, options: { baseModel: server.options.model, ...options } });
}

/**
 * The programs that the tests' model can write, each in a block of code: they stand in its vocabulary as one token each. The shorter form
 * without line breaks around it is how prompts show a program; without it they would be hundreds of tokens long.
 */
export function programTokens(): string[] {
  const directory = join(import.meta.dirname, "programs");
  return readdirSync(directory).flatMap((name) => {
    const block = fence(readFileSync(join(directory, name), "utf8"));
    return [`\n${block}\n`, block];
  });
}

/** Loss and optimiser of these tests. Without momentum an update leaves nothing behind but its step. */
export const loss: Extract<Loss, { kind: "policyGradient" }> = { kind: "policyGradient", clipLow: 0.2, clipHigh: 0.28, importanceCap: 2, klCoefficient: 0, entropyCoefficient: 0 };
export const optimiser: Optimiser = { learningRate: 0, beta1: 0, beta2: 0, epsilon: 1e-8, weightDecay: 0, maxGradientNorm: 1e9, minibatches: 1 };

/** Log-probability of what was sampled in each row, under the trainer's present weights: by an update without a learning rate, which says the mean. */
export async function rowLogprobs(trainer: Trainer, rows: readonly TrainingRow[]): Promise<number[]> {
  const found: number[] = [];
  for (const row of rows) {
    const { entropy, tokens } = await trainer.update({ rows: [row], seed: 0 }, loss, optimiser);
    found.push(-(entropy[row.trajectory.role] ?? NaN) * tokens);
  }
  return found;
}

/** The same under the sampler's weights when the rows were made. */
export function sampledLogprobs(rows: readonly TrainingRow[]): number[] {
  return rows.map(({ trajectory }) => trajectory.segments.reduce((sum, segment) => sum + (segment.kind === "sampled" ? segment.logprobs.reduce((a, b) => a + b, 0) : 0), 0));
}

export function difference(after: readonly number[], before: readonly number[]): number[] {
  return after.map((value, i) => value - (before[i] ?? NaN));
}

/** Cosine of the angle between two lists. */
export function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]): number => x.reduce((sum, value, i) => sum + value * (y[i] ?? NaN), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}
