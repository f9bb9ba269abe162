import { SpadeError } from "../core/errors.ts";

/**
 * How a request failed. `refused`: it never reached a server. `connection` and `timeout`: it may have been received and carried out.
 * `status`: the server answered outside 2xx. `aborted`: the caller gave up. `format`: the answer cannot be read.
 */
export interface HttpFailure {
  readonly kind: "refused" | "connection" | "timeout" | "status" | "aborted" | "format";
  readonly url: string;
  readonly attempts: number;
  /** Of `status` only. */
  readonly status?: number;
  /** What the server said, shortened, keys hidden; of `status` only. */
  readonly body?: string;
  /** How long the server asks to wait. */
  readonly retryAfterMs?: number;
  /** The server's own word on whether to repeat (`x-should-retry`). */
  readonly shouldRetry?: boolean;
}

/** The failure that an error of the HTTP client carries; absent for other errors. */
export function httpFailure(error: unknown): HttpFailure | undefined {
  return error instanceof SpadeError && error.boundary === "http" && "kind" in error.details ? (error.details as unknown as HttpFailure) : undefined;
}

/**
 * May the request be sent again? `always`: whenever it could help; for requests that are safe to carry out twice. `unaccepted`: only when
 * the server certainly did not begin to carry it out.
 */
export type Repeat = "always" | "unaccepted" | "never";

/** True when a failure is worth another attempt under `repeat`. */
export function isRepeatable(failure: HttpFailure, repeat: Repeat): boolean {
  if (repeat === "never" || failure.kind === "aborted") return false;
  const waits = failure.kind === "refused" || failure.status === 429 || failure.status === 425;
  if (repeat === "unaccepted") return waits;
  if (failure.shouldRetry !== undefined) return failure.shouldRetry;
  return waits || failure.kind === "connection" || failure.kind === "timeout" || failure.status === 408 || (failure.status ?? 0) >= 500;
}

const notDelivered = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

/** Tells a request that never left from one that broke on the way, from what `fetch` threw. */
export function connectionKind(error: unknown): "refused" | "connection" {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const errors = cause instanceof AggregateError ? (cause.errors as unknown[]) : [cause];
    if (errors.length > 0 && errors.every((each) => notDelivered.has(codeOf(each) ?? ""))) return "refused";
  }
  return "connection";
}

/** The innermost message and code of what `fetch` threw: the outermost only says "fetch failed". */
export function connectionReason(error: unknown): string {
  let reason = error;
  while (reason instanceof Error && reason.cause instanceof Error) reason = reason.cause;
  if (!(reason instanceof Error)) return String(reason);
  return reason.message || codeOf(reason) || reason.name;
}

function codeOf(error: unknown): string | undefined {
  return typeof error === "object" && error !== null && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** What to do about a failure, as the end of a message. `keyName`: the variable the key came from. */
export function remedyOf(failure: Pick<HttpFailure, "kind" | "status">, keyName: string | undefined): string {
  const { kind, status = 0 } = failure;
  if (kind === "refused") return "Check that the server runs and that the base URL (host and port) is right.";
  if (kind === "connection") return "Look at the server's log: it closed the connection before it had answered.";
  if (kind === "timeout") return "Look at the load of the server, or raise the timeout.";
  if (kind === "aborted") return "It was given up because another part failed or the run was stopped.";
  if (kind === "format") return "Check that the base URL is that of an API, not of a web page or a proxy.";
  if (status === 401 || status === 403) return keyName === undefined ? "The server wants a key: name the environment variable that holds it (apiKeyEnv)." : `Check the key in the environment variable ${keyName}.`;
  if (status === 402) return "The account is out of credit: add some, then resume.";
  if (status === 404) return "Check the base URL, and that the server speaks this API.";
  if (status === 429) return "The server is at its limit: lower the concurrency, or wait and resume.";
  if (status >= 300 && status < 400) return "Redirects are not followed, so that the key goes nowhere else: give the final base URL.";
  return status >= 500 ? "Look at the server's log, then resume." : "Compare the version of the server with what docs/engines.md names.";
}
