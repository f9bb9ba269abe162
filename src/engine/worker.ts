import { parentPort, workerData } from "node:worker_threads";
import { SpadeError, invariant, messageOf } from "../core/errors.ts";
import { EngineCore } from "./core.ts";
import type { EngineReply, EngineRequest } from "./engine.ts";
import type { EngineOptions } from "./types.ts";

// The engine's thread: opens the model, then answers one request after the other.
const port = parentPort;
invariant(port !== null, "engine/worker.ts runs as a worker thread");

function failure(id: number, error: unknown): EngineReply {
  const known = error instanceof SpadeError;
  const code = known ? error.code : "engine.runtime";
  const message = known ? error.message : `The engine failed: ${messageOf(error)}. Please report it with the configuration used.`;
  return { id, ok: false, code, message, details: known ? error.details : {} };
}

try {
  const core = await EngineCore.open(workerData as EngineOptions);
  let queue: Promise<void> = Promise.resolve();
  const answer = async ({ id, method, args }: EngineRequest): Promise<void> => {
    try {
      const call = core[method].bind(core) as (...args: readonly unknown[]) => Promise<unknown>;
      port.postMessage({ id, ok: true, value: await call(...args) } satisfies EngineReply);
    } catch (error) {
      port.postMessage(failure(id, error));
    }
  };
  port.on("message", (request: EngineRequest) => {
    queue = queue.then(() => answer(request));
  });
  port.postMessage({ config: core.config });
} catch (error) {
  port.postMessage(failure(0, error));
}
