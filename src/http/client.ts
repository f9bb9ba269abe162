import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../core/clock.ts";
import { monotonicClock } from "../core/clock.ts";
import { messageOf, SpadeError } from "../core/errors.ts";
import { Rng } from "../core/seed.ts";
import { connectionKind, connectionReason, type HttpFailure, httpFailure, isRepeatable, remedyOf, type Repeat } from "./failure.ts";
import { parseJson } from "./json.ts";
import { backoffMs, defaultRetry, retryAfterMs, type RetryPolicy } from "./retry.ts";
import type { Secret } from "./secret.ts";

export interface HttpClientOptions {
  /** Everything before the paths; a trailing slash is dropped. */
  readonly baseUrl: string;
  readonly credential?: { readonly secret: Secret; readonly form: "bearer" | "x-api-key" };
  /** Of one attempt, up to the last byte of the answer. */
  readonly timeoutMs?: number;
  readonly retry?: Partial<RetryPolicy>;
  /** A longer answer is an error. */
  readonly maxResponseBytes?: number;
  /** Go where the server points, without the bearer key when that is another host. Default: redirects are errors. */
  readonly followRedirects?: boolean;
  /** Seed of the jitter of delays. */
  readonly seed: number;
  readonly clock?: Clock;
  /** Told about each repetition before its delay. */
  readonly onRetry?: (failure: HttpFailure, delayMs: number) => void;
}

export interface HttpRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** Begins with a slash. */
  readonly path: string;
  /** Sent unchanged at each attempt. */
  readonly body?: { readonly bytes: Uint8Array<ArrayBuffer>; readonly contentType: string };
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: `always`. */
  readonly repeat?: Repeat;
  readonly timeoutMs?: number;
  /** Default: the client's. */
  readonly maxResponseBytes?: number;
  readonly signal?: AbortSignal;
  /** Told about each failed attempt that will be repeated. */
  readonly onFailure?: (failure: HttpFailure) => void;
}

/** An answer in 2xx. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  /** Attempts it took; above 1, an earlier attempt may have been carried out too. */
  readonly attempts: number;
}

/** A value as the body of a request. */
export function jsonBody(value: unknown): { readonly bytes: Uint8Array<ArrayBuffer>; readonly contentType: string } {
  return { bytes: new TextEncoder().encode(JSON.stringify(value)), contentType: "application/json" };
}

/**
 * A small HTTP client for model servers: time limits, repetition with backoff, keys that show nowhere, errors with a remedy.
 * Redirects are not followed unless asked for. All methods throw SpadeError `http.<kind>` whose details are an `HttpFailure`.
 */
export class HttpClient {
  readonly baseUrl: string;
  readonly #options: HttpClientOptions;
  readonly #retry: RetryPolicy;
  readonly #rng: Rng;
  readonly #clock: Clock;

  constructor(options: HttpClientOptions) {
    this.baseUrl = options.baseUrl.replace(/\/+$/, "");
    this.#options = options;
    this.#retry = { ...defaultRetry, ...options.retry };
    this.#rng = new Rng(options.seed);
    this.#clock = options.clock ?? monotonicClock;
  }

  /** Sends a request until it succeeds or repeating it is no use. @throws SpadeError http.* */
  async send(request: HttpRequest): Promise<HttpResponse> {
    const start = this.#clock();
    for (let attempt = 1, failures = 0; ; attempt++) {
      try {
        return { ...(await this.#attempt(request, attempt)), attempts: attempt };
      } catch (error) {
        const failure = httpFailure(error);
        if (failure === undefined || !isRepeatable(failure, request.repeat ?? "always")) throw error;
        if (failure.status !== 429) failures += 1;
        const asked = failure.retryAfterMs === undefined ? undefined : Math.min(failure.retryAfterMs, this.#retry.maxRetryAfterMs);
        const delayMs = asked ?? backoffMs(attempt - 1, this.#retry, this.#rng);
        if (failures > this.#retry.retries || this.#clock() - start + delayMs > this.#retry.patienceMs) throw error;
        request.onFailure?.(failure);
        this.#options.onRetry?.(failure, delayMs);
        await this.#wait(delayMs, request, attempt);
      }
    }
  }

  /** Sends a request and reads the answer as JSON. @throws SpadeError http.* */
  async json(request: HttpRequest): Promise<unknown> {
    return this.readJson(request, await this.send(request));
  }

  /** The JSON of an answer to `request`. @throws SpadeError http.format */
  readJson(request: HttpRequest, response: HttpResponse): unknown {
    const text = new TextDecoder().decode(response.bytes);
    try {
      return parseJson(text);
    } catch (cause) {
      throw this.#error(request, { kind: "format", attempts: response.attempts }, { reason: `answered what is not JSON (${messageOf(cause)}): ${excerpt(text)}`, cause });
    }
  }

  async #attempt(request: HttpRequest, attempts: number): Promise<Omit<HttpResponse, "attempts">> {
    const timeoutMs = request.timeoutMs ?? this.#options.timeoutMs ?? 60_000;
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = request.signal === undefined ? timeout : AbortSignal.any([request.signal, timeout]);
    try {
      const response = await fetch(this.baseUrl + request.path, { method: request.method, headers: this.#headers(request), redirect: this.#options.followRedirects === true ? "follow" : "manual", signal, ...(request.body === undefined ? {} : { body: request.body.bytes }) });
      const bytes = await this.#read(request, response, attempts);
      if (!response.ok) throw this.#statusError(request, response, bytes, attempts);
      return { status: response.status, headers: response.headers, bytes };
    } catch (cause) {
      if (cause instanceof SpadeError) throw cause;
      if (request.signal?.aborted === true) throw this.#error(request, { kind: "aborted", attempts }, { reason: "was given up", cause });
      if (timeout.aborted) throw this.#error(request, { kind: "timeout", attempts }, { reason: `was not answered within ${timeoutMs} ms`, cause });
      throw this.#error(request, { kind: connectionKind(cause), attempts }, { reason: `failed: ${connectionReason(cause)}`, cause });
    }
  }

  async #read(request: HttpRequest, response: Response, attempts: number): Promise<Uint8Array> {
    const most = request.maxResponseBytes ?? this.#options.maxResponseBytes ?? 2 ** 30;
    const parts: Uint8Array[] = [];
    let length = 0;
    const body: AsyncIterable<Uint8Array> | readonly Uint8Array[] = response.body ?? [];
    for await (const part of body) {
      length += part.length;
      if (length > most) throw this.#error(request, { kind: "format", attempts }, { reason: `answered more than ${most} bytes` });
      parts.push(part);
    }
    return Buffer.concat(parts);
  }

  #headers(request: HttpRequest): Record<string, string> {
    const { credential } = this.#options;
    const key = credential?.secret.reveal() ?? "";
    return {
      accept: "application/json",
      ...(credential === undefined ? {} : credential.form === "bearer" ? { authorization: `Bearer ${key}` } : { "x-api-key": key }),
      ...(request.body === undefined ? {} : { "content-type": request.body.contentType }),
      ...request.headers,
    };
  }

  #statusError(request: HttpRequest, response: Response, bytes: Uint8Array, attempts: number): SpadeError {
    const body = this.#hide(excerpt(detailOf(new TextDecoder().decode(bytes))));
    const [after, should] = [retryAfterMs(response.headers), response.headers.get("x-should-retry")];
    const failure = { kind: "status", status: response.status, attempts, body, ...(after === undefined ? {} : { retryAfterMs: after }), ...(should === "true" || should === "false" ? { shouldRetry: should === "true" } : {}) } as const;
    return this.#error(request, failure, { reason: `was answered with status ${response.status}${body === "" ? "" : `: ${body}`}` });
  }

  #error(request: HttpRequest, failure: Omit<HttpFailure, "url">, what: { readonly reason: string; readonly cause?: unknown }): SpadeError {
    const url = this.baseUrl + request.path;
    const times = failure.attempts > 1 ? ` (${failure.attempts} attempts)` : "";
    const message = `${request.method} ${url} ${what.reason}${times}. ${remedyOf(failure, this.#options.credential?.secret.name)}`;
    return new SpadeError(`http.${failure.kind}`, this.#hide(message), { details: { ...failure, url }, cause: what.cause });
  }

  #hide(text: string): string {
    return this.#options.credential?.secret.redact(text) ?? text;
  }

  async #wait(delayMs: number, request: HttpRequest, attempts: number): Promise<void> {
    try {
      await sleep(delayMs, undefined, request.signal === undefined ? {} : { signal: request.signal });
    } catch (cause) {
      throw this.#error(request, { kind: "aborted", attempts }, { reason: "was given up", cause });
    }
  }
}

/** The message in an error body of the common shapes (`detail`, `error.message`, `message`), else the text itself. */
function detailOf(text: string): string {
  try {
    const body = JSON.parse(text) as { detail?: unknown; error?: unknown; message?: unknown };
    const detail = body.detail ?? body.error ?? body.message ?? text;
    return typeof detail === "string" ? detail : JSON.stringify(detail);
  } catch {
    return text;
  }
}

function excerpt(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 400 ? `${line.slice(0, 400)}…` : line;
}
