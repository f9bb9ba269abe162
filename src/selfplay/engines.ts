import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { Renderer } from "../chat/renderer.ts";
import type { Config } from "../config/schema.ts";
import { monotonicClock } from "../core/clock.ts";
import { sha256 } from "../core/digest.ts";
import { invariant, SpadeError } from "../core/errors.ts";
import { deriveSeed } from "../core/seed.ts";
import { EngineHost } from "../engine/engine.ts";
import { HttpClient } from "../http/client.ts";
import { defaultRetry, type RetryPolicy } from "../http/retry.ts";
import { type ReadVariable, readSecret } from "../http/secret.ts";
import { embedded } from "../policy/embedded.ts";
import type { Spending } from "../policy/openai/spending.ts";
import type { Policy, Trainer } from "../policy/policy.ts";
import { Connection, defaultTiming } from "../policy/tinker/connection.ts";
import { profiles } from "../policy/tinker/profile.ts";
import { checkModel } from "../policy/tinker/session.ts";
import { connectTinker } from "../policy/tinker/tinker.ts";
import type { Speaker } from "./dependencies.ts";
import { openEndpoint } from "./endpoint.ts";
import { packagePath } from "./paths.ts";
import { openSpeech } from "./speech.ts";

/** What plays and designs, ready; disposing of it frees what it holds. */
export interface OpenSpeaker extends Speaker, AsyncDisposable {
  /** Directory of the tokenizer, where there is one; it may hold what is known of the model's demonstrations. */
  readonly directory?: string;
  /** What the user should know before it is asked. */
  readonly notes: readonly string[];
  /** What replies cost; of endpoints only. */
  readonly spending?: Spending;
}

/** What samples and learns. */
export interface Engine extends OpenSpeaker {
  readonly policy: Policy;
  readonly trainer: Trainer;
  readonly renderer: Renderer;
}

export interface EngineSurroundings {
  readonly readVariable: ReadVariable;
  /** Told what the user should know while a server makes it wait. */
  readonly notice: (text: string) => void;
}

/** Opens the policy that the configuration names, whether it can be trained or not. @throws SpadeError engine.*, policy.*, http.key */
export async function openSpeaker(config: Config, surroundings: EngineSurroundings): Promise<OpenSpeaker> {
  if (config.policy.kind !== "openai") return openEngine(config, surroundings);
  const speaker = await openEndpoint(config.policy, { seed: config.run.seed, ...surroundings });
  const compact = config.prompts === "compact" ? ['Note: prompts are "compact", the words that the bundled nano policy was taught; models that follow instructions want prompts "full".'] : [];
  return { ...speaker, notes: compact, [Symbol.asyncDispose]: () => Promise.resolve() };
}

/** Opens the engine that the configuration names. @throws SpadeError engine.*, policy.*, http.key */
export function openEngine(config: Config, surroundings: EngineSurroundings): Promise<Engine> {
  return config.policy.kind === "embedded" ? openEmbedded(config) : openTinker(config, surroundings);
}

async function openEmbedded(config: Config): Promise<Engine> {
  invariant(config.policy.kind === "embedded", "the embedded engine is opened for its own configuration");
  const directory = packagePath(config.policy.model);
  const { renderer, stopTokens } = await openSpeech(directory);
  const [stopToken] = stopTokens;
  invariant(stopToken !== undefined, "the bundled models have a token that ends a response");
  const host = await EngineHost.create({ source: { kind: "directory", directory }, threads: config.policy.threads });
  try {
    const { policy, trainer } = await embedded(host, {
      stopToken,
      maxPolicyLag: config.update.maxPolicyLag,
      keepReference: config.update.loss.klCoefficient > 0,
      allowSamplingMismatch: config.allowSamplingMismatch,
    });
    return { policy, trainer, renderer, directory, notes: [], [Symbol.asyncDispose]: () => host.close() };
  } catch (error) {
    await host.close();
    throw error;
  }
}

async function openTinker(config: Config, surroundings: EngineSurroundings): Promise<Engine> {
  invariant(config.policy.kind === "tinker", "a Tinker server is opened for its own configuration");
  const { model, lora, contextLength, maxConcurrentSamples, chunk } = config.policy;
  const directory = packagePath(config.policy.tokenizer);
  const { renderer, stopTokens, vocabularySize, probe, digest } = await openSpeech(directory);
  await compareDigests(digest, { directory, model });
  const seedOf = (purpose: string): number => deriveSeed(config.run.seed, "tinker", purpose);
  const connection = connectionTo(config.policy, seedOf, surroundings);
  const { profile } = connection;
  const tinker = await connectTinker(connection, {
    baseModel: model,
    lora: { ...lora, seed: seedOf("adapter") & 0x7fffffff },
    chunks: chunk,
    stopTokens,
    vocabularySize,
    probe,
    maxPolicyLag: config.update.maxPolicyLag,
    allowSamplingMismatch: config.allowSamplingMismatch,
    maxConcurrentSamples,
    sampleDuringUpdates: config.update.asynchronous,
    ...(contextLength === undefined ? {} : { contextLength }),
  });
  const clipping = profile.clipsGradient ? [] : [`Note: a server of the profile ${config.policy.profile} does not clip gradients: update.optimiser.maxGradientNorm has no effect.`];
  return { policy: tinker.policy, trainer: tinker.trainer, renderer, directory, notes: clipping, [Symbol.asyncDispose]: () => tinker[Symbol.asyncDispose]() };
}

type TinkerPolicyConfig = Extract<Config["policy"], { kind: "tinker" }>;

function connectionTo(policy: TinkerPolicyConfig, seedOf: (purpose: string) => number, { readVariable, notice }: EngineSurroundings, retry?: RetryPolicy): Connection {
  const { baseUrl, apiKeyEnv, requestTimeoutMs, operationTimeoutMs, profile } = policy;
  const credential = apiKeyEnv === undefined ? {} : { credential: { secret: readSecret(apiKeyEnv, readVariable), form: "x-api-key" as const } };
  const http = new HttpClient({ baseUrl, seed: seedOf("retries"), timeoutMs: requestTimeoutMs, ...credential, ...(retry === undefined ? {} : { retry }) });
  return new Connection({ http, profile: profiles[profile], timing: { ...defaultTiming, operationTimeoutMs }, clock: monotonicClock, seed: seedOf("polls"), notice });
}

/** Asks a server once whether it serves the model; the context length that it names for it, if it does. @throws SpadeError policy.*, http.key */
export async function askServer(policy: TinkerPolicyConfig, readVariable: ReadVariable): Promise<number | undefined> {
  const quick = { ...policy, requestTimeoutMs: Math.min(policy.requestTimeoutMs, 10_000) };
  return checkModel(connectionTo(quick, () => 0, { readVariable, notice: () => undefined }, { ...defaultRetry, retries: 0, patienceMs: 10_000 }), policy.model);
}

/** When the server was given a directory of this machine, the served model's tokenizer lies in it. @throws SpadeError policy.tokenizer when it is another one */
async function compareDigests(digest: string, { directory, model }: { readonly directory: string; readonly model: string }): Promise<void> {
  const path = join(model, "tokenizer.json");
  if (!isAbsolute(model) || !existsSync(path) || sha256(await readFile(path, "utf8")) === digest) return;
  throw new SpadeError("policy.tokenizer", `The tokenizer in ${directory} is not the served model's: it differs from ${path}. Set policy.tokenizer to ${model}.`, { details: { directory, model } });
}
