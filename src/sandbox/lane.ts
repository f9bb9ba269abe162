import { SpadeError } from "../core/errors.ts";
import { Child, ChildDeath } from "./child-process.ts";
import type { Image } from "./image.ts";
import { recycleGrowthBytes, recyclePrograms, residentOverheadBytes } from "./limits.ts";
import type { Reply, Request } from "./messages.ts";
import type { Limits } from "./sandbox.ts";

/** Told when a child no longer holds a program. */
export interface Tenant {
  readonly key: number;
  onUnloaded: () => void;
}

/** What has happened in a lane, for reports. */
export interface LaneStatistics {
  starts: number;
  startMs: number;
  switches: number;
  switchMs: number;
}

const maxJobsInARow = 32;

/** One child at a time, restarted when it is needed and not there. Jobs run one after the other. */
export class Lane {
  readonly index: number;
  readonly statistics: LaneStatistics = { starts: 0, startMs: 0, switches: 0, switchMs: 0 };
  private readonly image: Image;
  private readonly limits: Limits;
  private readonly tenants = new Map<number, Tenant>();
  /** Counts children: what was loaded in an earlier generation is gone. */
  generation = 0;
  private child: Child | undefined;
  private starting: Promise<Child> | undefined;
  private readonly waiting: { readonly key: number; readonly start: () => Promise<void> }[] = [];
  private isBusy = false;
  /** Program of the last job and how many of its jobs ran in a row. */
  private last = { key: -1, count: 0 };
  private loads = 0;
  private baseBytes: number | undefined;
  private closed = false;

  constructor(index: number, image: Image, limits: Limits) {
    this.index = index;
    this.image = image;
    this.limits = limits;
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
  }

  /**
   * Runs a job when its turn comes. Jobs of one program run in order; a program's waiting jobs run together, because
   * switching programs costs more than a step, but others do not wait for more than a few of them. @throws sandbox.closed
   */
  run<T>(key: number, job: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const start = async (): Promise<void> => {
        try {
          this.assertOpen();
          resolve(await job());
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      };
      this.waiting.push({ key, start });
      void this.runWaiting();
    });
  }

  /** Asks the child, starting one when there is none. To be called inside a job. Returns the child's death as a value. */
  async ask(request: Request): Promise<Reply | ChildDeath> {
    try {
      const child = await this.ready();
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

  async close(): Promise<void> {
    this.closed = true;
    await this.child?.kill();
    await this.run(-1, () => Promise.resolve()).catch(() => undefined);
    await this.starting?.catch(() => undefined);
    await this.child?.kill();
    this.child = undefined;
  }

  private async runWaiting(): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    for (let next = this.takeNext(); next !== undefined; next = this.takeNext()) await next.start();
    this.isBusy = false;
  }

  private takeNext(): { readonly start: () => Promise<void> } | undefined {
    const sameProgram = this.last.count < maxJobsInARow ? this.waiting.findIndex(({ key }) => key === this.last.key) : -1;
    const [next] = this.waiting.splice(Math.max(0, sameProgram), 1);
    if (next !== undefined) this.last = { key: next.key, count: next.key === this.last.key ? this.last.count + 1 : 1 };
    return next;
  }

  private assertOpen(): void {
    if (this.closed) throw new SpadeError("sandbox.closed", "The sandbox is closed. Open a new one.");
  }

  private ready(): Promise<Child> {
    this.starting ??= this.start().catch((error: unknown) => {
      this.starting = undefined;
      throw error;
    });
    return this.starting;
  }

  private async start(): Promise<Child> {
    const child = await Child.start(this.image, this.limits);
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
    for (const key of reply.evicted) this.tenants.get(key)?.onUnloaded();
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
    this.ready().catch(() => undefined);
  }
}
