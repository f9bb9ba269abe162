import { setImmediate as afterOthers } from "node:timers/promises";
import { monotonicClock } from "../core/clock.ts";
import { SpadeError } from "../core/errors.ts";
import { type Child, ChildDeath } from "./child-process.ts";
import { recycleGrowthBytes, recyclePrograms, residentOverheadBytes, sliceMs } from "./limits.ts";
import type { Reply, Request } from "./messages.ts";
import type { Seat, Spare } from "./seat.ts";

/** Something that takes turns in a lane. */
interface Worker {
  /** Goes before those that are not. */
  readonly isUrgent: boolean;
  /** Whether anything is left to do. */
  readonly hasWork: boolean;
  /** Does one request's worth of work. Never rejects: errors go to whoever waits for the work. */
  serve(): Promise<void>;
}

/** A program as its lane sees it. */
export interface Tenant extends Worker {
  readonly key: number;
  /** Processor time that a call of it may use while others wait. */
  readonly patienceMs: number;
  /** Told when the child no longer holds a program: the one with this key, or any. */
  onUnloaded(key?: number): void;
  /** Makes another lane its own; what it had in the child is unloaded. */
  settleIn(lane: Lane): void;
}

/** Where a lane goes on, and where its long calls do, so that nobody waits for them. */
export interface Relief {
  readonly spare: Spare;
  /** The lane of slow programs. */
  readonly slow: Lane;
}

/** What has happened in a lane, for reports. */
export interface LaneStatistics {
  /** Children that it has used, and the time of their starts. */
  starts: number;
  startMs: number;
  switches: number;
  switchMs: number;
  /** Calls that the lane of slow programs has taken over while they ran. */
  takenOver: number;
}

/**
 * One child at a time, restarted when it is needed and not there. Programs with work take turns: each is served for a slice of
 * time (switching programs costs more than a step), and then the next that waits, urgent ones first. A turn ends at the latest with the
 * call that runs when the slice is over, or with that call's patience if others wait: then the call goes on in the turn of the lane of
 * slow programs, in the child it is in, and this lane goes on in the spare one. So one such call runs at a time.
 */
export class Lane {
  readonly index: number;
  readonly statistics: LaneStatistics = { starts: 0, startMs: 0, switches: 0, switchMs: 0, takenOver: 0 };
  /** Counts children: what was loaded in an earlier generation is gone. */
  generation = 0;
  /** Absent in the lane of slow programs itself, which waits for its own next child. */
  private readonly relief: Relief | undefined;
  private readonly tenants = new Map<number, Tenant>();
  /** Those with work, in the order of their turns. */
  private readonly ready = new Set<Worker>();
  private serving: Promise<void> | undefined;
  private seat: Seat;
  private lastChild: Child | undefined;
  private onLongCall: ((usedMs: number) => void) | undefined;
  private baseBytes: number | undefined;
  private closed = false;

  constructor(index: number, seat: Seat, relief?: Relief) {
    this.index = index;
    this.seat = seat;
    this.relief = relief;
  }

  /** Number of open programs. */
  get tenantCount(): number {
    return this.tenants.size;
  }

  add(tenant: Tenant): void {
    this.tenants.set(tenant.key, tenant);
  }

  remove(tenant: Tenant): void {
    this.tenants.delete(tenant.key);
    this.ready.delete(tenant);
  }

  /** Tells that there is work. */
  wake(worker: Worker): void {
    this.ready.add(worker);
    this.serving ??= this.serveAll();
  }

  /** Asks the child, starting one when there is none. To be called while being served. Returns the child's death as a value. */
  async ask(request: Request): Promise<Reply | ChildDeath> {
    const { seat, onLongCall } = this;
    try {
      this.assertOpen();
      const child = await seat.started();
      this.noteStart(child);
      // Of the guest's own calls: what else a child does ends by itself.
      const reply = await child.request(request, request.kind === "load" || request.kind === "run" ? onLongCall : undefined);
      await this.account(seat, request, reply);
      return reply;
    } catch (error) {
      this.assertOpen();
      if (!(error instanceof ChildDeath)) throw error;
      await this.replace(seat);
      return error;
    }
  }

  /** Ends when nothing is under way any more; work that is left fails with `sandbox.closed`. The children are to be killed meanwhile. */
  async close(): Promise<void> {
    this.closed = true;
    await this.serving;
  }

  private async serveAll(): Promise<void> {
    let last: Worker | undefined;
    let since = 0;
    for (;;) {
      const isOver = monotonicClock() - since > sliceMs;
      const first = this.ready.values().find(({ isUrgent }) => isUrgent) ?? this.ready.values().next().value;
      const goesOn: boolean = last !== undefined && !isOver && this.ready.has(last) && (last.isUrgent || first?.isUrgent !== true);
      const worker: Worker | undefined = goesOn ? last : first;
      if (worker === undefined) break;
      if (worker !== last || isOver) since = monotonicClock();
      last = worker;
      // In lanes other than that of slow programs only programs take turns.
      await (this.relief === undefined ? worker.serve() : this.serveBriefly(worker as Tenant, this.relief));
      // To the end of the order, behind those that have begun to wait meanwhile; unless it went to another lane.
      if (this.ready.delete(worker) && worker.hasWork) this.ready.add(worker);
      // Who has the answers may ask again at once; else a program with quick calls would get one of them for each long one of another.
      else if (this.ready.size > 0) await afterOthers();
    }
    this.serving = undefined;
  }

  /** A program's turn: ends with it, or when its call has been taken over by the lane of slow programs. */
  private async serveBriefly(tenant: Tenant, relief: Relief): Promise<void> {
    let isServed = false;
    let isOffered = false;
    let turnIsOver = (): void => undefined;
    const takenOver = new Promise<void>((resolve) => (turnIsOver = resolve));
    this.onLongCall = (usedMs) => {
      if (isOffered || usedMs < tenant.patienceMs || this.ready.size < 2) return;
      isOffered = true;
      relief.slow.wake({ hasWork: false, isUrgent: tenant.isUrgent, serve: () => (isServed ? Promise.resolve() : this.handOver(tenant, { ...relief, served, turnIsOver })) });
    };
    const served = tenant.serve().finally(() => (isServed = true));
    await Promise.race([served, takenOver]);
  }

  /** A turn of the slow lane: a call of another lane goes on there, with its child, until it is over. */
  private async handOver(tenant: Tenant, { slow, spare, served, turnIsOver }: Relief & { readonly served: Promise<void>; readonly turnIsOver: () => void }): Promise<void> {
    this.statistics.takenOver++;
    const busy = this.seat;
    const free = spare.take();
    if (free === undefined) throw new SpadeError("internal.invariant", "the spare seat is taken outside a turn of the slow lane");
    tenant.settleIn(slow);
    this.sitDown(free);
    turnIsOver();
    await served;
    await busy.clear();
    spare.give(busy);
  }

  /** Goes on in another seat; nothing of before is there. */
  private sitDown(seat: Seat): void {
    this.seat = seat;
    this.generation++;
    for (const tenant of this.tenants.values()) tenant.onUnloaded();
  }

  private assertOpen(): void {
    if (this.closed) throw new SpadeError("sandbox.closed", "The sandbox is closed. Open a new one.");
  }

  private noteStart(child: Child): void {
    if (child === this.lastChild) return;
    this.lastChild = child;
    this.statistics.starts++;
    this.statistics.startMs += child.startMs;
  }

  /** Notes what a reply says about the child; replaces a child that has grown or served long enough. */
  private async account(seat: Seat, request: Request, reply: Reply): Promise<void> {
    if (reply.switchMs > 0) {
      this.statistics.switches++;
      this.statistics.switchMs += reply.switchMs;
    }
    for (const key of reply.evicted) for (const tenant of this.tenants.values()) tenant.onUnloaded(key);
    if (request.kind === "load") seat.loads++;
    this.baseBytes ??= reply.guestBytes;
    const hasGrown = reply.guestBytes > this.baseBytes + recycleGrowthBytes || reply.residentBytes > residentOverheadBytes;
    if (hasGrown || reply.isSpent === true || seat.loads >= recyclePrograms) await this.replace(seat);
  }

  /** Ends the child in a seat of this lane, or in one that it has handed over. The lane goes on in the spare seat, if that is free. */
  private async replace(seat: Seat): Promise<void> {
    const isOwn = seat === this.seat;
    const free = isOwn ? this.relief?.spare.take() : undefined;
    if (isOwn) this.sitDown(free ?? seat);
    const ended = seat.end();
    if (isOwn && this.tenants.size > 0) this.seat.prepare();
    if (free !== undefined) this.relief?.spare.give(seat);
    await ended;
  }
}
