import { monotonicClock } from "../../../core/clock.ts";
import { HttpClient } from "../../../http/client.ts";
import type { RetryPolicy } from "../../../http/retry.ts";
import { Secret } from "../../../http/secret.ts";
import { Connection, defaultTiming, type Timing } from "../connection.ts";
import { profiles, type ServerProfile } from "../profile.ts";
import { connectTinker, type Tinker, type TinkerOptions } from "../tinker.ts";
import { type ScriptedServerOptions, ScriptedServer } from "./scripted-server.ts";
import { TabularModel } from "./served-model.ts";

/** Model that the scripted server serves. */
export const testModel = "tests/tabular-12";
/** Tokens 0 to 11; the last ends a response. */
export const vocabularySize = 12;
export const stopToken = 11;

const quick: Timing = { ...defaultTiming, pollTimeoutMs: 20_000, pollPauseMs: 1, operationTimeoutMs: 60_000, outageMs: 30_000, billingMs: 20, billingPauseMs: 1 };

export interface ConnectChanges {
  readonly profile?: Partial<ServerProfile>;
  readonly timing?: Partial<Timing>;
  readonly options?: Partial<TinkerOptions>;
  readonly key?: string;
  readonly notices?: string[];
  /** Of one request. Default: 20,000, so that a busy machine changes no test. */
  readonly timeoutMs?: number;
  readonly retries?: number;
  /** Replaces the short delays. */
  readonly retry?: Partial<RetryPolicy>;
}

/** A tabular server. */
export function startServer(changes: Partial<ScriptedServerOptions> = {}, reduction: "sum" | "datumMean" = "sum"): Promise<ScriptedServer> {
  return ScriptedServer.start({ baseModel: testModel, newModel: () => new TabularModel(vocabularySize, reduction), contextLength: 32, ...changes });
}

/** A client of a scripted server with short delays; returns it with its connection. */
export function connect(baseUrl: string, { profile, timing, options, key, notices, timeoutMs = 20_000, retries = 3, retry }: ConnectChanges = {}): Promise<Tinker> {
  const http = new HttpClient({
    baseUrl,
    seed: 1,
    timeoutMs,
    retry: { retries, baseMs: 1, maxMs: 4, patienceMs: 60_000, ...retry },
    ...(key === undefined ? {} : { credential: { secret: new Secret("TEST_KEY", key), form: "x-api-key" as const } }),
  });
  const connection = new Connection({ http, profile: { ...profiles.hosted, ...profile }, timing: { ...quick, ...timing }, clock: monotonicClock, seed: 1, notice: (text) => notices?.push(text) });
  return connectTinker(connection, {
    baseModel: testModel,
    lora: { rank: 4, seed: 1, trainAttention: true, trainMlp: true, trainUnembedding: true },
    chunks: { datums: 1024, bytes: 5_000_000 },
    stopTokens: [stopToken],
    vocabularySize,
    maxPolicyLag: 1,
    allowSamplingMismatch: false,
    maxConcurrentSamples: 16,
    ...options,
  });
}

/** Prompts that the tabular model can answer. */
export const testPrompt = (i: number): Int32Array => Int32Array.of(1, 2, 3 + (i % 4));
