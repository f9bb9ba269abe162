import { parentPort, workerData } from "node:worker_threads";
import { invariant } from "../../src/core/errors.ts";
import type { FeedStart } from "./batch-feed.ts";
import { exampleSource } from "./data.ts";
import { batchAt } from "./examples.ts";

const port = parentPort;
invariant(port !== null, "batch-worker.ts runs as a worker thread");

const start = workerData as FeedStart;
const exampleAt = exampleSource(start.plan, "training");
let first = start.first;

port.on("message", (count: number) => {
  for (let i = 0; i < count; i++) {
    const batch = batchAt(first, exampleAt);
    port.postMessage(batch);
    first = batch.next;
  }
});
