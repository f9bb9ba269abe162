import type { ChatMessage } from "../../../core/chat.ts";
import { HttpClient } from "../../../http/client.ts";
import { Secret } from "../../../http/secret.ts";
import type { SampleRequest } from "../../policy.ts";
import { Endpoint } from "../endpoint.ts";
import { type Limit, type Prices, Spending } from "../spending.ts";

export const testModel = "tests/chat";

export interface EndpointChanges {
  readonly model?: string;
  readonly key?: string;
  readonly maxConcurrent?: number;
  readonly prices?: Prices;
  readonly limit?: Limit;
  readonly body?: Readonly<Record<string, unknown>>;
  /** Default: 20,000, so that a busy machine changes no test. */
  readonly timeoutMs?: number;
  readonly delays?: number[];
}

/** A client of an endpoint with short delays. */
export function endpointOf(baseUrl: string, { model = testModel, key, maxConcurrent = 8, prices, limit = {}, body = {}, timeoutMs = 20_000, delays }: EndpointChanges = {}): Endpoint {
  const http = new HttpClient({
    baseUrl,
    seed: 1,
    timeoutMs,
    retry: { retries: 3, baseMs: 1, maxMs: 4, patienceMs: 60_000 },
    onRetry: (_failure, delayMs) => delays?.push(delayMs),
    ...(key === undefined ? {} : { credential: { secret: new Secret("TEST_KEY", key), form: "bearer" as const } }),
  });
  return new Endpoint({ http, model, maxConcurrent, spending: new Spending({ model, limit, ...(prices === undefined ? {} : { prices }) }), body, nonsensePauseMs: 1 });
}

/** A request of one message. */
export function asking(content: string, seed = 1): SampleRequest<readonly ChatMessage[]> {
  return { prompt: [{ role: "user", content }], sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 64 }, seed };
}
