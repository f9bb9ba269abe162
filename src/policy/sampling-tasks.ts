import type { Prompt } from "../core/chat.ts";
import { invariant } from "../core/errors.ts";
import type { AnyPolicy, AnySample, SampleRequest } from "./policy.ts";

/** Place of a request among those that wait with it, compared number by number, lowest first. The first number is its stage. */
export type Rank = readonly number[];

/** Asks a policy for one sample; `onBegin` is called when the request goes to the policy. */
export type Ask = (policy: AnyPolicy, request: SampleRequest<Prompt>, place: { readonly rank: Rank; readonly onBegin?: () => void }) => Promise<AnySample>;

interface Waiting {
  readonly policy: AnyPolicy;
  readonly request: SampleRequest<Prompt>;
  readonly rank: Rank;
  readonly onBegin: (() => void) | undefined;
  readonly resolve: (sample: AnySample) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Tasks that sample one request at a time. A `concurrent` policy gets every request at once, and each task goes at its own pace. Any other
 * policy gets batches: when every task waits for one, the requests of the earliest stage go as one batch per policy, in the order of their
 * ranks. What is in a batch then depends on the seeds alone and never on time, as the embedded engine's last bits require (invariant 12).
 */
export class SamplingTasks {
  readonly #stop = new AbortController();
  /** Tasks and flows that have not ended. */
  readonly #open = new Set<Promise<unknown>>();
  #tasks = 0;
  #waiting: Waiting[] = [];
  #looking = false;

  /** Runs `body` and waits for all that it began. The first failure, or `signal`, ends every task; it is what is thrown. */
  static async during<T>(body: (tasks: SamplingTasks) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const tasks = new SamplingTasks();
    const stop = (): void => tasks.#fail(signal?.reason);
    signal?.addEventListener("abort", stop);
    if (signal?.aborted === true) stop();
    try {
      return await tasks.flow(() => body(tasks));
    } finally {
      while (tasks.#open.size > 0) await Promise.allSettled(tasks.#open);
      signal?.removeEventListener("abort", stop);
    }
  }

  /** Starts a task. What it does besides sampling holds the next batch back. A task may not wait for another one. */
  run<T>(task: (ask: Ask) => Promise<T>): Promise<T> {
    this.#tasks += 1;
    return this.flow(async () => {
      try {
        return await task((policy, request, place) => this.#ask(policy, request, place));
      } finally {
        this.#tasks -= 1;
        this.#look();
      }
    });
  }

  /** Starts what waits for tasks and starts others; it holds nothing back. */
  flow<T>(steps: () => Promise<T>): Promise<T> {
    const flow = steps().catch((error: unknown) => {
      this.#fail(error);
      this.#stop.signal.throwIfAborted();
      throw error;
    });
    this.#open.add(flow);
    const end = (): void => void this.#open.delete(flow);
    flow.then(end, end);
    return flow;
  }

  async #ask(...[policy, request, { rank, onBegin }]: Parameters<Ask>): Promise<AnySample> {
    const { signal } = this.#stop;
    signal.throwIfAborted();
    if (policy.concurrent === true) {
      onBegin?.();
      const [sample] = await policy.sample([request], { signal });
      return present(sample);
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ policy, request, rank, onBegin, resolve, reject });
      this.#look();
    });
  }

  /** Looks, when all that can go on at once has gone on, whether every task waits. */
  #look(): void {
    if (this.#looking) return;
    this.#looking = true;
    setImmediate(() => {
      this.#looking = false;
      if (this.#waiting.length > 0 && this.#waiting.length === this.#tasks) this.#sampleStage();
    });
  }

  #sampleStage(): void {
    const stage = Math.min(...this.#waiting.map(({ rank }) => rank[0] ?? 0));
    const asked = this.#waiting.filter(({ rank }) => (rank[0] ?? 0) === stage).sort((a, b) => compare(a.rank, b.rank));
    this.#waiting = this.#waiting.filter((each) => !asked.includes(each));
    for (const [policy, batch] of Map.groupBy(asked, ({ policy }) => policy)) void this.#sampleBatch(policy, batch);
  }

  async #sampleBatch(policy: AnyPolicy, batch: readonly Waiting[]): Promise<void> {
    try {
      for (const { onBegin } of batch) onBegin?.();
      const samples = await policy.sample(batch.map(({ request }) => request), { signal: this.#stop.signal });
      batch.forEach(({ resolve }, i) => resolve(present(samples[i])));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  #fail(error: unknown): void {
    this.#stop.abort(error);
    for (const { reject } of this.#waiting.splice(0)) reject(this.#stop.signal.reason);
  }
}

function compare(a: Rank, b: Rank): number {
  const different = a.findIndex((value, i) => value !== b[i]);
  return different === -1 ? a.length - b.length : (a[different] ?? 0) - (b[different] ?? -1);
}

function present(sample: AnySample | undefined): AnySample {
  invariant(sample !== undefined, "a policy returns one sample per request");
  return sample;
}
