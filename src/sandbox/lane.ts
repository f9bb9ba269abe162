import { setImmediate as afterOthers } from "node:timers/promises";
import { monotonicClock } from "../core/clock.ts";
import { SpadeError } from "../core/errors.ts";
import { Child, ChildDeath } from "./child-process.ts";
import type { Image } from "./image.ts";
import { recycleGrowthBytes, recyclePrograms, residentOverheadBytes, sliceMs } from "./limits.ts";
import type { Reply, Request } from "./messages.ts";
import type { Limits } from "./sandbox.ts";
import type { BubblewrapState } from "./second-layer.ts";

/** A program as its lane sees it. */
export interface Tenant {
  readonly key: number;
  /** Goes before those that are not. */
  readonly isUrgent: boolean;
  /** Whether anything is left to do. */
  readonly hasWork: boolean;
  /** Does one request's worth of work. Never rejects: errors go to whoever waits for the work. */
  serve(): Promise<void>;
  /** Told when the child no longer holds a program: the one with this key, or any. */
  onUnloaded(key?: number): void;
}

/** What has happened in a lane, for reports. */
export interface LaneStatistics {
  starts: number;
  startMs: number;
  switches: number;
  switchMs: number;
}

/**
 * One child at a time, restarted when it is needed and not there. Programs with work take turns: each is served for a slice of
 * time (switching programs costs more than a step), and then the next that waits, urgent ones first. A turn ends at the latest with the
 * call that runs when the slice is over.
 */
export class Lane {
  readonly index: number;
  readonly statistics: LaneStatistics = { starts: 0, startMs: 0, switches: 0, switchMs: 0 };
  /** Counts children: what was loaded in an earlier generation is gone. */
  generation = 0;
  private readonly image: Image;
  private readonly limits: Limits;
  private readonly bubblewrap: BubblewrapState;
  private readonly tenants = new Map<number, Tenant>();
  /** Programs with work, in the order of their turns. */
  private readonly ready = new Set<Tenant>();
  private serving: Promise<void> | undefined;
  private child: Child | undefined;
  private starting: Promise<Child> | undefined;
  private loads = 0;
  private baseBytes: number | undefined;
  private closed = false;

  constructor(index: number, options: { readonly image: Image; readonly limits: Limits; readonly bubblewrap: BubblewrapState }) {
    this.index = index;
    this.image = options.image;
    this.limits = options.limits;
    this.bubblewrap = options.bubblewrap;
  }

  /** Number of open programs. */
  get tenantCount(): number {
    return this.tenants.size;
  }

  /** Process id of the child, if one is running. */
  get pid(): number | undefined {
    return this.child?.pid;
  }

  add(tenant: Tenant): void {
    this.tenants.set(tenant.key, tenant);
  }

  remove(tenant: Tenant): void {
    this.tenants.delete(tenant.key);
    this.ready.delete(tenant);
  }

  /** Tells that a program has work. */
  wake(tenant: Tenant): void {
    this.ready.add(tenant);
    this.serving ??= this.serveAll();
  }

  /** Asks the child, starting one when there is none. To be called while being served. Returns the child's death as a value. */
  async ask(request: Request): Promise<Reply | ChildDeath> {
    try {
      this.assertOpen();
      const child = await this.started();
      const reply = await child.request(request);
      await this.account(request, reply);
      return reply;
    } catch (error) {
      this.assertOpen();
      if (!(error instanceof ChildDeath)) throw error;
      await this.replace();
      return error;
    }
  }

  /** Ends the child; work that is left fails with `sandbox.closed`. */
  async close(): Promise<void> {
    this.closed = true;
    await this.child?.kill();
    await this.starting?.catch(() => undefined);
    await this.serving;
    await this.child?.kill();
    this.child = undefined;
  }

  private async serveAll(): Promise<void> {
    let last: Tenant | undefined;
    let since = 0;
    for (;;) {
      const isOver = monotonicClock() - since > sliceMs;
      const first = this.ready.values().find(({ isUrgent }) => isUrgent) ?? this.ready.values().next().value;
      const goesOn: boolean = last !== undefined && !isOver && this.ready.has(last) && (last.isUrgent || first?.isUrgent !== true);
      const tenant: Tenant | undefined = goesOn ? last : first;
      if (tenant === undefined) break;
      if (tenant !== last || isOver) since = monotonicClock();
      last = tenant;
      await tenant.serve();
      // To the end of the order, behind those that have begun to wait meanwhile; unless it went to another lane.
      if (this.ready.delete(tenant) && tenant.hasWork) this.ready.add(tenant);
      // Whoever waited for an urgent program may ask it for more, before another one is put in its place.
      if (tenant.isUrgent) await afterOthers();
    }
    this.serving = undefined;
  }

  private assertOpen(): void {
    if (this.closed) throw new SpadeError("sandbox.closed", "The sandbox is closed. Open a new one.");
  }

  private started(): Promise<Child> {
    this.starting ??= this.start().catch((error: unknown) => {
      this.starting = undefined;
      throw error;
    });
    return this.starting;
  }

  private async start(): Promise<Child> {
    const child = await Child.start(this.image, this.limits, this.bubblewrap);
    if (this.closed) await child.kill();
    this.child = child;
    this.statistics.starts++;
    this.statistics.startMs += child.startMs;
    this.loads = 0;
    return child;
  }

  /** Notes what a reply says about the child; replaces a child that has grown or served long enough. */
  private async account(request: Request, reply: Reply): Promise<void> {
    if (reply.switchMs > 0) {
      this.statistics.switches++;
      this.statistics.switchMs += reply.switchMs;
    }
    for (const key of reply.evicted) for (const tenant of this.tenants.values()) tenant.onUnloaded(key);
    if (request.kind === "load") this.loads++;
    this.baseBytes ??= reply.guestBytes;
    const hasGrown = reply.guestBytes > this.baseBytes + recycleGrowthBytes || reply.residentBytes > residentOverheadBytes;
    if (hasGrown || reply.isSpent === true || this.loads >= recyclePrograms) await this.replace();
  }

  /** Ends the child and begins to start the next one, if anybody is there to use it. */
  private async replace(): Promise<void> {
    const child = this.child;
    this.child = undefined;
    this.starting = undefined;
    this.generation++;
    for (const tenant of this.tenants.values()) tenant.onUnloaded();
    await child?.kill();
    if (this.closed || this.tenants.size === 0) return;
    // A failure to start is met by whoever asks next.
    this.started().catch(() => undefined);
  }
}
