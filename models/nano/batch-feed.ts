import { Worker } from "node:worker_threads";
import type { Batch } from "./examples.ts";
import type { DataPlan } from "./data.ts";

/** What the feed's thread needs to make batches. */
export interface FeedStart {
  readonly plan: DataPlan;
  readonly first: number;
}

const ahead = 12;

/** Batches in order from demonstration `first` on, made ahead of time in a thread of its own. Close it, or the process stays alive. */
export class BatchFeed {
  readonly #worker: Worker;
  readonly #ready: Batch[] = [];
  #waiting: { resolve(batch: Batch): void; reject(error: Error): void } | undefined;
  #failure: Error | undefined;

  constructor(start: FeedStart) {
    this.#worker = new Worker(new URL("./batch-worker.ts", import.meta.url), { workerData: start });
    this.#worker.on("message", (batch: Batch) => {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      if (waiting) waiting.resolve(batch);
      else this.#ready.push(batch);
    });
    this.#worker.on("error", (error: Error) => {
      this.#failure = error;
      this.#waiting?.reject(error);
    });
    this.#worker.postMessage(ahead);
  }

  /** The next batch; one call at a time. */
  next(): Promise<Batch> {
    this.#worker.postMessage(1);
    const batch = this.#ready.shift();
    if (batch) return Promise.resolve(batch);
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
