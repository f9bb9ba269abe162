import { textRenderer } from "../chat/text-renderer.ts";
import type { Config } from "../config/schema.ts";
import { deriveSeed } from "../core/seed.ts";
import { HttpClient } from "../http/client.ts";
import { type ReadVariable, readSecret } from "../http/secret.ts";
import { Endpoint } from "../policy/openai/endpoint.ts";
import { connectText, connectTokens } from "../policy/openai/openai.ts";
import { Spending } from "../policy/openai/spending.ts";
import type { Speaker } from "./dependencies.ts";
import { packagePath } from "./paths.ts";
import { openSpeech } from "./speech.ts";

/** Configuration of an endpoint of the OpenAI kind. */
export type EndpointConfig = Extract<Config["policy"], { kind: "openai" }>;

/** A model behind an endpoint, ready to be asked. */
export interface EndpointSpeaker extends Speaker {
  readonly spending: Spending;
  /** Directory of its tokenizer, where tokens are exact. */
  readonly directory?: string;
}

interface Surroundings {
  /** Run seed. */
  readonly seed: number;
  readonly readVariable: ReadVariable;
}

/** The endpoint that a configuration names; nothing is asked yet. @throws SpadeError http.key */
export function endpointOf(config: EndpointConfig, { seed, readVariable }: Surroundings): Endpoint {
  const { baseUrl, model, apiKeyEnv, maxConcurrentSamples, body, prices, limit, requestTimeoutMs } = config;
  const credential = apiKeyEnv === undefined ? {} : { credential: { secret: readSecret(apiKeyEnv, readVariable), form: "bearer" as const } };
  const http = new HttpClient({ baseUrl, seed: deriveSeed(seed, "openai", "retries"), timeoutMs: requestTimeoutMs, maxResponseBytes: 2 ** 26, ...credential });
  const spending = new Spending({ model, limit, ...(prices === undefined ? {} : { prices }) });
  return new Endpoint({ http, model, maxConcurrent: maxConcurrentSamples, spending, body });
}

/**
 * Connects to the endpoint that a configuration names: by tokens where it names a tokenizer, else by text.
 * @throws SpadeError policy.*, http.key, chat.*
 */
export async function openEndpoint(config: EndpointConfig, surroundings: Surroundings): Promise<EndpointSpeaker> {
  const endpoint = endpointOf(config, surroundings);
  const { spending } = endpoint;
  const context = config.contextLength === undefined ? {} : { contextLength: config.contextLength };
  if (config.tokenizer === undefined) return { policy: await connectText(endpoint, { stream: config.stream, ...context }), renderer: textRenderer, spending };
  const directory = packagePath(config.tokenizer);
  const { renderer, stopTokens, vocabularySize, probe } = await openSpeech(directory);
  const english = probe.subarray(0, -1);
  return { policy: await connectTokens(endpoint, { stopTokens, vocabularySize, probe: { text: renderer.text(english), tokens: english }, ...context }), renderer, spending, directory };
}
