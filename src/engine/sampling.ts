import type { Model } from "./model.ts";
import type { SessionCache } from "./session-cache.ts";
import type { EngineSample, EngineSampleRequest } from "./types.ts";
export function sample(_model: Model, _sessions: SessionCache, _requests: readonly EngineSampleRequest[]): Promise<EngineSample[]> {
  return Promise.reject(new Error("todo"));
}
