import { monotonicClock } from "../core/clock.ts";
import { SpadeError } from "../core/errors.ts";
import type { Item } from "./messages.ts";
import type { Read } from "./replies.ts";
import type { CallOptions, GuestResult, InstanceId } from "./sandbox.ts";

/** One call that a caller waits for. */
export interface Call<T> {
  readonly op: Item["op"];
  readonly instance: InstanceId;
  readonly arg?: number | string;
  readonly read: Read<T>;
}

interface Batch {
  readonly calls: readonly Call<unknown>[];
  readonly resolve: (results: readonly GuestResult<unknown>[]) => void;
  readonly reject: (error: Error) => void;
}

/** Calls of one program, in the order in which they were asked for, and who waits for them. */
export class WorkQueue {
  private readonly batches = new Set<Batch>();
  private readonly results = new WeakMap<Call<unknown>, GuestResult<unknown>>();

  get isEmpty(): boolean {
    return this.batches.size === 0;
  }

  /** Adds calls; settles when all are answered, at the latest at the deadline. @throws sandbox.deadline */
  add<T>(calls: readonly Call<T>[], { deadlineMs }: CallOptions = {}): Promise<readonly GuestResult<T>[]> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    return new Promise<readonly GuestResult<T>[]>((resolve, reject) => {
      const batch: Batch = { calls, resolve: resolve as Batch["resolve"], reject };
      this.batches.add(batch);
      if (deadlineMs !== undefined) timer = setTimeout(() => this.refuse(batch, pastDeadline(calls.length)), deadlineMs - monotonicClock());
    }).finally(() => clearTimeout(timer));
  }

  /** Calls that have no answer yet, in order. */
  pending(): Call<unknown>[] {
    return [...this.batches].flatMap(({ calls }) => calls.filter((call) => !this.results.has(call)));
  }

  answer(call: Call<unknown>, result: GuestResult<unknown>): void {
    this.results.set(call, result);
  }

  /** Hands out the results of batches that are wholly answered; a batch without calls is done when the program is. */
  settle(isProgramDone: boolean): void {
    for (const batch of this.batches) {
      const { calls } = batch;
      if (calls.length === 0 ? !isProgramDone : calls.some((call) => !this.results.has(call))) continue;
      this.batches.delete(batch);
      batch.resolve(calls.flatMap((call) => this.results.get(call) ?? []));
    }
  }

  /** Ends everything with an error. */
  refuseAll(error: Error): void {
    for (const batch of [...this.batches]) this.refuse(batch, error);
  }

  private refuse(batch: Batch, error: Error): void {
    if (!this.batches.delete(batch)) return;
    batch.reject(error);
  }
}

function pastDeadline(calls: number): SpadeError {
  return new SpadeError("sandbox.deadline", `${calls} calls were not all answered by their deadline. Raise the limit wallMsPerTurn, or make fewer calls at once.`);
}
