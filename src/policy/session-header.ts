import { sha256 } from "../core/digest.ts";
import type { SampleRequest } from "./policy.ts";

/**
 * The header that names the conversation of a request. Routers in front of several replicas (vllm-router's `consistent_hash`, SkyRL's) send
 * requests that are equal in it to one of them. It is a digest: the name may hold what no header may, and paths that are no server's business.
 */
export function sessionHeader({ session }: Pick<SampleRequest, "session">): Readonly<Record<string, string>> {
  return session === undefined ? {} : { "x-session-id": sha256(session).slice(0, 32) };
}
