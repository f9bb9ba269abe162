import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../core/clock.ts";
import { SpadeError } from "../../core/errors.ts";
import { Rng } from "../../core/seed.ts";
import type { HttpClient, HttpRequest } from "../../http/client.ts";
import { type HttpFailure, httpFailure, type Repeat } from "../../http/failure.ts";
import { backoffMs, defaultRetry } from "../../http/retry.ts";
import { policyError } from "./failures.ts";
import type { ServerProfile } from "./profile.ts";
import { type FutureResult, isRecord, jsonPayload, type Payload, protocolError } from "./wire.ts";

/** Time limits of the protocol's loops. */
export interface Timing {
  /** Of one poll; a server that holds longer is asked again. */
  readonly pollTimeoutMs: number;
  /** Least time between two polls of one future that did not wait at the server. */
  readonly pollPauseMs: number;
  /** An operation that has no result by then is given up. */
  readonly operationTimeoutMs: number;
  /** Polls that fail for this long, without one answer between, are given up. */
  readonly outageMs: number;
  /** Total of pauses on 402 before giving up, and the length of one. */
  readonly billingMs: number;
  readonly billingPauseMs: number;
  readonly heartbeatMs: number;
}

export const defaultTiming: Timing = { pollTimeoutMs: 45_000, pollPauseMs: 50, operationTimeoutMs: 3_600_000, outageMs: 300_000, billingMs: 600_000, billingPauseMs: 5_000, heartbeatMs: 10_000 };

export interface ConnectionOptions {
  readonly http: HttpClient;
  readonly profile: ServerProfile;
  readonly timing: Timing;
  readonly clock: Clock;
  readonly seed: number;
  /** Told what the user should know while waiting. */
  readonly notice: (text: string) => void;
}

/** What an operation is called in errors, and how it may be repeated. */
export interface Operation {
  readonly what: string;
  readonly repeat?: Repeat;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  readonly onFailure?: (failure: HttpFailure) => void;
}

type Poll = { readonly kind: "done"; readonly result: FutureResult } | { readonly kind: "pending"; readonly queue?: string } | { readonly kind: "paused"; readonly error: unknown } | { readonly kind: "trouble"; readonly error: unknown } | { readonly kind: "odd"; readonly error: unknown };

/** Answers that make no sense, in a row, before an operation is given up. */
const maxOdd = 3;
/** Polls answered by 500, in a row, before the same: about half a minute. SkyRL answers so for good when a result holds a number that is not finite. */
const maxInternal = 7;

/** Requests and futures of a Tinker server. All methods throw SpadeError `policy.*`. */
export class Connection {
  readonly profile: ServerProfile;
  readonly timing: Timing;
  readonly notice: (text: string) => void;
  readonly #http: HttpClient;
  readonly #clock: Clock;
  readonly #rng: Rng;

  constructor({ http, profile, timing, clock, seed, notice }: ConnectionOptions) {
    this.#http = http;
    this.profile = profile;
    this.timing = timing;
    this.#clock = clock;
    this.#rng = new Rng(seed);
    this.notice = notice;
  }

  /** A request that is answered at once. */
  async call(path: string, value: Readonly<Record<string, unknown>>, operation: Operation & { readonly timeoutMs?: number }): Promise<Readonly<Record<string, unknown>>> {
    return this.#post(jsonPayload(path, value), operation);
  }

  async get(path: string, operation: Operation): Promise<Readonly<Record<string, unknown>>> {
    return this.#answer({ method: "GET", path }, operation);
  }

  /** Starts an operation; returns its future's id and what else the server said at once. */
  async begin(payload: Payload, operation: Operation): Promise<{ readonly requestId: string; readonly immediate: Readonly<Record<string, unknown>> }> {
    const immediate = await this.#post(payload, operation);
    const { request_id: requestId } = immediate;
    if (typeof requestId !== "string" || requestId === "") throw protocolError(`${operation.what} got no request_id`, immediate);
    return { requestId, immediate };
  }

  /** Waits for a future. @throws SpadeError policy.operation when it failed on the server, policy.lost when the server forgot it */
  async result(requestId: string, operation: Operation): Promise<FutureResult> {
    const start = this.#clock();
    const state = { odd: 0, troubles: 0, internal: 0, answeredAt: start, pausedMs: 0, quick: 0, queue: "active" };
    for (let poll = 0; ; poll++) {
      if (this.#clock() - start > this.timing.operationTimeoutMs) throw new SpadeError("policy.timeout", `${operation.what} has no result after ${this.timing.operationTimeoutMs} ms (queue state: ${state.queue}). Look at the load of the server, or raise policy.operationTimeoutMs; then resume.`);
      const asked = this.#clock();
      const answer = await this.#poll(requestId, operation, poll);
      if (answer.kind === "done") return answer.result;
      await this.#wait(this.#delay(answer, state, operation, this.#clock() - asked), operation);
    }
  }

  /** How long to wait before the next poll, by what the last one gave; throws when there shall be none. */
  #delay(answer: Exclude<Poll, { kind: "done" }>, state: { odd: number; troubles: number; internal: number; answeredAt: number; pausedMs: number; quick: number; queue: string }, { what }: Operation, tookMs: number): number {
    const { timing } = this;
    if (answer.kind === "trouble") {
      if (httpFailure(answer.error)?.status === 500) state.internal += 1;
      if (state.internal > maxInternal || this.#clock() - state.answeredAt > timing.outageMs) throw policyError(what, answer.error);
      return backoffMs(state.troubles++, defaultRetry, this.#rng);
    }
    state.answeredAt = this.#clock();
    state.troubles = state.internal = 0;
    if (answer.kind === "odd") {
      if (++state.odd > maxOdd) throw policyError(what, answer.error);
      return timing.pollPauseMs;
    }
    state.odd = 0;
    if (answer.kind === "paused") return this.#billingPause(state, what, answer.error);
    if (answer.queue !== undefined && answer.queue !== state.queue) this.notice(`${what}: the server's queue is ${answer.queue}.`);
    state.queue = answer.queue ?? state.queue;
    state.quick = tookMs < timing.pollPauseMs ? state.quick + 1 : 0;
    return Math.min(1000, state.quick * timing.pollPauseMs);
  }

  #billingPause(state: { pausedMs: number }, what: string, error: unknown): number {
    if (state.pausedMs >= this.timing.billingMs) throw policyError(what, error);
    if (state.pausedMs === 0) this.notice(`${what}: the server asks for payment (402). Add credit; waiting up to ${Math.round(this.timing.billingMs / 1000)} s.`);
    state.pausedMs += this.timing.billingPauseMs;
    return this.timing.billingPauseMs;
  }

  async #poll(requestId: string, operation: Operation, poll: number): Promise<Poll> {
    const { bytes, contentType } = jsonPayload("", { request_id: requestId, allow_metadata_only: false });
    const request: HttpRequest = {
      method: "POST",
      path: "/api/v1/retrieve_future",
      body: { bytes, contentType },
      headers: { accept: "application/x-protobuf, application/json", "x-tinker-request-iteration": String(poll) },
      repeat: "never",
      timeoutMs: this.timing.pollTimeoutMs,
      ...signalOf(operation),
    };
    try {
      const response = await this.#http.send(request);
      if (response.headers.get("content-type")?.startsWith("application/x-protobuf") === true) return { kind: "done", result: { kind: "protobuf", bytes: response.bytes } };
      return readAnswer(this.#http.readJson(request, response), operation.what);
    } catch (error) {
      const kind = this.#pollFailure(error);
      if (kind === "pending") return { kind };
      if (kind !== "failed") return { kind, error };
      throw httpFailure(error)?.status === 400 ? operationError(operation.what, httpFailure(error)?.body ?? "", error) : policyError(operation.what, error);
    }
  }

  #pollFailure(error: unknown): "pending" | "paused" | "trouble" | "odd" | "failed" {
    const { kind, status = 0 } = httpFailure(error) ?? {};
    if (kind === "timeout" || status === 408) return "pending";
    if (status === 402) return "paused";
    if (kind === "connection" || kind === "refused" || status === 429 || status >= 500) return "trouble";
    if (kind === "format" || (status === 400 && !this.profile.failsBy400)) return "odd";
    return "failed";
  }

  #post(payload: Payload, operation: Operation & { readonly timeoutMs?: number }): Promise<Readonly<Record<string, unknown>>> {
    return this.#answer({ method: "POST", path: payload.path, body: payload, ...(operation.timeoutMs === undefined ? {} : { timeoutMs: operation.timeoutMs }) }, operation);
  }

  /** Sends a request, pausing while the server asks for payment. */
  async #answer(request: HttpRequest, operation: Operation): Promise<Readonly<Record<string, unknown>>> {
    const { what, repeat, headers, onFailure } = operation;
    const full: HttpRequest = { ...request, ...signalOf(operation), ...(repeat === undefined ? {} : { repeat }), ...(headers === undefined ? {} : { headers }), ...(onFailure === undefined ? {} : { onFailure }) };
    for (const state = { pausedMs: 0 }; ; ) {
      try {
        const answer = await this.#http.json(full);
        if (!isRecord(answer)) throw protocolError(`${what} got no object`, answer);
        return answer;
      } catch (error) {
        if (httpFailure(error)?.status !== 402) throw policyError(what, error);
        await this.#wait(this.#billingPause(state, what, error), operation);
      }
    }
  }

  async #wait(ms: number, { what, signal }: Operation): Promise<void> {
    if (ms <= 0) return;
    try {
      await sleep(ms, undefined, signal === undefined ? {} : { signal });
    } catch (cause) {
      throw new SpadeError("policy.aborted", `${what} was given up because another part failed or the run was stopped.`, { cause });
    }
  }
}

function readAnswer(value: unknown, what: string): Poll {
  if (!isRecord(value)) return { kind: "odd", error: protocolError(`${what} got no object as its result`, value) };
  if (value["type"] === "try_again") return { kind: "pending", ...(typeof value["queue_state"] === "string" ? { queue: value["queue_state"] } : {}) };
  if (value["status"] === "complete_metadata") return { kind: "pending" };
  if ("error" in value) throw operationError(what, String(value["error"]));
  return { kind: "done", result: { kind: "json", value } };
}

function operationError(what: string, said: string, cause?: unknown): SpadeError {
  return new SpadeError("policy.operation", `${what} failed on the server, which said: ${said === "" ? "nothing" : said}. Correct what it names (docs/engines.md lists known causes) and resume.`, { details: { said }, cause });
}

function signalOf({ signal }: Operation): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}
