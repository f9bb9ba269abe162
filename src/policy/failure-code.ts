import type { SpadeError } from "../core/errors.ts";
import type { HttpFailure } from "../http/failure.ts";

/** Code of the policy's error for a request to its server that failed. */
export function failureCode({ kind, status = 0 }: HttpFailure): SpadeError["code"] {
  switch (kind) {
    case "refused":
    case "connection":
      return "policy.unreachable";
    case "timeout":
      return "policy.timeout";
    case "aborted":
      return "policy.aborted";
    case "format":
      return "policy.protocol";
    case "status":
      break;
  }
  if (status === 401 || status === 403) return "policy.key";
  if (status === 402) return "policy.billing";
  if (status === 404 || status === 410) return "policy.lost";
  if (status === 415) return "policy.encoding";
  if (status === 429) return "policy.rateLimit";
  return status >= 500 ? "policy.server" : "policy.request";
}
