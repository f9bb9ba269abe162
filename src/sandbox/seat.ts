import { SpadeError } from "../core/errors.ts";
import { Child, type ChildOptions } from "./child-process.ts";

/** A place for one child, which is started when it is needed and not there. */
export class Seat {
  /** Programs that the child has loaded. */
  loads = 0;
  private readonly options: ChildOptions;
  private child: Child | undefined;
  /** The child that is being started. */
  private coming: Child | undefined;
  private starting: Promise<Child> | undefined;
  private isClosed = false;

  constructor(options: ChildOptions) {
    this.options = options;
  }

  /** Process id of the child, if one is running or being started. */
  get pid(): number | undefined {
    return (this.child ?? this.coming)?.pid;
  }

  /** The child; starts one when there is none. @throws sandbox.child-start, sandbox.closed */
  started(): Promise<Child> {
    if (this.isClosed) return Promise.reject(new SpadeError("sandbox.closed", "The sandbox is closed. Open a new one."));
    this.starting ??= this.start().catch((error: unknown) => {
      this.starting = undefined;
      throw error;
    });
    return this.starting;
  }

  /** Starts a child ahead of its use. A failure to start is met by whoever needs it. */
  prepare(): void {
    this.started().catch(() => undefined);
  }

  /** Makes the child forget all programs. */
  async clear(): Promise<void> {
    try {
      await this.child?.request({ kind: "clear" });
    } catch {
      await this.end();
    }
  }

  /** Kills the child; another starts when it is needed. */
  async end(): Promise<void> {
    const { child } = this;
    if (child === undefined) return;
    this.child = undefined;
    this.starting = undefined;
    await child.kill();
  }

  /** Kills the child for good, also one that is being started. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.coming?.kill();
    await this.starting?.catch(() => undefined);
    await this.end();
  }

  private async start(): Promise<Child> {
    const child = new Child(this.options);
    this.coming = child;
    await child.started().finally(() => (this.coming = undefined));
    this.child = child;
    this.loads = 0;
    return child;
  }
}

/** The one seat that is in no lane: for a lane whose own child is gone, or busy with a call that others should not wait for. */
export class Spare {
  private seat: Seat | undefined;

  constructor(seat: Seat) {
    this.seat = seat;
  }

  /** Takes the seat, which is to be given back or replaced by another; absent while somebody has it. */
  take(): Seat | undefined {
    const { seat } = this;
    this.seat = undefined;
    return seat;
  }

  /** Gives a seat, and starts a child in it for the next that comes. */
  give(seat: Seat): void {
    this.seat = seat;
    seat.prepare();
  }
}
