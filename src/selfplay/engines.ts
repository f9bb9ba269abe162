import type { Renderer } from "../chat/renderer.ts";
import type { Config } from "../config/schema.ts";
import { monotonicClock } from "../core/clock.ts";
import { invariant } from "../core/errors.ts";
import { deriveSeed } from "../core/seed.ts";
import { EngineHost } from "../engine/engine.ts";
import { HttpClient } from "../http/client.ts";
import { type ReadVariable, readSecret } from "../http/secret.ts";
import { embedded } from "../policy/embedded.ts";
import type { Policy, Trainer } from "../policy/policy.ts";
import { Connection, defaultTiming } from "../policy/tinker/connection.ts";
import { profiles } from "../policy/tinker/profile.ts";
import { connectTinker } from "../policy/tinker/tinker.ts";
import { packagePath } from "./paths.ts";
import { openSpeech } from "./speech.ts";

/** What samples and learns, ready; disposing of it frees what it holds. */
export interface Engine extends AsyncDisposable {
  readonly policy: Policy;
  readonly trainer: Trainer;
  readonly renderer: Renderer;
  /** Directory of the tokenizer, which may hold what is known of the model's demonstrations. */
  readonly directory: string;
  /** What the user should know before the first iteration. */
  readonly notes: readonly string[];
}

export interface EngineSurroundings {
  readonly readVariable: ReadVariable;
  /** Told what the user should know while a server makes it wait. */
  readonly notice: (text: string) => void;
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

async function openTinker(config: Config, { readVariable, notice }: EngineSurroundings): Promise<Engine> {
  invariant(config.policy.kind === "tinker", "a Tinker server is opened for its own configuration");
  const { baseUrl, model, apiKeyEnv, lora, contextLength, maxConcurrentSamples, chunk, requestTimeoutMs, operationTimeoutMs } = config.policy;
  const directory = packagePath(config.policy.tokenizer);
  const { renderer, stopTokens, vocabularySize } = await openSpeech(directory);
  const seedOf = (purpose: string): number => deriveSeed(config.run.seed, "tinker", purpose);
  const credential = apiKeyEnv === undefined ? {} : { credential: { secret: readSecret(apiKeyEnv, readVariable), form: "x-api-key" as const } };
  const http = new HttpClient({ baseUrl, seed: seedOf("retries"), timeoutMs: requestTimeoutMs, ...credential });
  const profile = profiles[config.policy.profile];
  const connection = new Connection({ http, profile, timing: { ...defaultTiming, operationTimeoutMs }, clock: monotonicClock, seed: seedOf("polls"), notice });
  const tinker = await connectTinker(connection, {
    baseModel: model,
    lora: { ...lora, seed: seedOf("adapter") & 0x7fffffff },
    chunks: chunk,
    stopTokens,
    vocabularySize,
    maxPolicyLag: config.update.maxPolicyLag,
    allowSamplingMismatch: config.allowSamplingMismatch,
    maxConcurrentSamples,
    sampleDuringUpdates: config.update.asynchronous,
    ...(contextLength === undefined ? {} : { contextLength }),
  });
  const clipping = profile.clipsGradient ? [] : [`Note: a server of the profile ${config.policy.profile} does not clip gradients: update.optimiser.maxGradientNorm has no effect.`];
  return { policy: tinker.policy, trainer: tinker.trainer, renderer, directory, notes: clipping, [Symbol.asyncDispose]: () => tinker[Symbol.asyncDispose]() };
}
